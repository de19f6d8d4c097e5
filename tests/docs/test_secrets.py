import base64
import json
import os
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.deploy.rendering import write_part
from tests.docs.pages import blocks
from tests.fakes.bootstrap_process import RECIPES, run, settings
from tests.fakes.sources import ROOT, python_path
from tests.servers.kube_api import KubeApi

from caliper.adapters.cluster.grants import STORE_GRANTS, STREAM_GRANTS
from caliper.adapters.cluster.recipes import SERVING
from caliper.pipeline.work.authentic_stream import SENDERS
from caliper.serving.tokens import Caller, Role, TokenFile
from caliper.wiring.bootstrap import BootstrapSettings
from caliper.wiring.settings import variable

PAGE = (ROOT / "docs" / "secrets.md").read_text("utf-8")
_BLOCKS = blocks("secrets.md", "sh")
CERTIFICATE, LINE, SECOND, _USER, PASSWORD, AUTHORITY, FILES = _BLOCKS
GAPLESS = CERTIFICATE.replace("caliper-tls-judge", "caliper-token-gateway")
SecretValues = dict[str, dict[str, bytes]]


def test_every_secret_is_there_with_what_it_holds() -> None:
    table = PAGE.partition("| Secret |")[2].partition("\n\n")[0]
    found = {}
    for names, holds in re.findall(r"^\| (`.*?`) \| (.*?) \| .* \|$", table, re.MULTILINE):
        files, special = re.findall(r"`([a-z.-]+)`", holds), "caliper-tls-kafka"
        for name in _expanded(names):
            found[name] = {file for file in files if file != "keystore.pem" or name == special}
    named = {"evaluate", "ours", "admin", "read"}
    assert {name: files - named for name, files in found.items()} == {
        recipe.name: set(recipe.files) for recipe in RECIPES
    }


def _expanded(names: str) -> Iterator[str]:
    """The names in a cell of the table."""
    ends = {
        "kafka-USER": STREAM_GRANTS,
        "sender-USER": set(SENDERS) - {"aggregator"},
        "store-USER": STORE_GRANTS,
        "tls-SERVER": SERVING,
    }
    for name in re.findall("`caliper-([a-zA-Z-]+)`", names):
        prefix = name.rstrip(string.ascii_uppercase)
        yield from (f"caliper-{prefix}{end}" for end in ends.get(name, [""]))


def test_every_setting_is_there_with_its_default() -> None:
    rows = re.findall(r"^\| (`CALIPER_.*?) \| .* \| (.*) \|$", PAGE, re.MULTILINE)
    found = {}
    for names, defaults in rows:
        for name, default in zip(names.split(", "), defaults.split(", "), strict=True):
            found[name.strip("`")] = default.strip("`")
    known = {
        variable(BootstrapSettings, name): field.default
        for name, field in BootstrapSettings.model_fields.items()
    }
    assert found == {
        name: "none" if default is None else str(default).removesuffix(".0")
        for name, default in known.items()
    }


@dataclass(frozen=True)
class Platform:
    """The platform on an API server, and somebody who administrates it in `folder`."""

    api: KubeApi
    folder: Path
    settings: dict[str, str]

    def shell(self, block: str) -> str:
        path = os.pathsep.join((str(self.api.programs), os.environ["PATH"]))
        environment = os.environ | self.api.environment | {"PATH": path}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def job(self, code: int = 0) -> str:
        """What the Job logs; it is there, and would be run by a controller."""
        self.api.kubectl("get", "job", "bootstrap", "--namespace", "caliper")
        ended = run(self.settings)
        assert ended.code == code, ended.err
        return ended.err

    def held(self) -> SecretValues:
        return {
            secret["metadata"]["name"]: {
                file: base64.b64decode(text) for file, text in secret["data"].items()
            }
            for secret in self.api.listed("secrets", "caliper")
        }

    def patch(self, name: str, file: str, content: bytes) -> None:
        text = json.dumps({"data": {file: base64.b64encode(content).decode()}})
        self.api.kubectl("patch", "secret", name, "--namespace", "caliper", "--patch", text)


@pytest.fixture(scope="module")
def installed(
    own_kube_api: KubeApi, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    folder = tmp_path_factory.mktemp("administrator")
    write_part(folder, "Namespace", "ServiceAccount", "Role", "RoleBinding", "Job")
    own_kube_api.kubectl("apply", "-k", folder / "deploy" / "k8s")
    account = own_kube_api.account(folder, "caliper", "bootstrap")
    found = Platform(own_kube_api, folder, settings(own_kube_api, "caliper", account))
    found.job()
    return found


def changed(before: SecretValues, after: SecretValues) -> set[str]:
    assert set(after) == set(before)
    return {name for name in before if before[name] != after[name]}


def test_a_certificate_is_replaced(installed: Platform) -> None:
    """That a service shows it without a restart is tested by tests/serving."""
    before = installed.held()
    installed.shell(CERTIFICATE)
    installed.job()
    assert changed(before, installed.held()) == {"caliper-tls-judge"}


def test_a_token_is_replaced_without_a_gap(installed: Platform) -> None:
    before = installed.held()
    installed.shell(GAPLESS)
    said = installed.job(code=1)
    assert changed(before, installed.held()) == {"caliper-token-gateway"}
    installed.shell(LINE)
    assert (installed.folder / "tokens").read_text("ascii").splitlines()[-1] in said
    installed.job()
    after = installed.held()
    assert after["caliper-tokens"]["tokens"] == (installed.folder / "tokens").read_bytes()
    tokens = TokenFile(installed.folder / "tokens")
    old, new = (each["caliper-token-gateway"]["token"].decode() for each in (before, after))
    for token in (old, new):
        assert tokens.caller(token) == Caller("gateway", Role.READ)
    # Without the old line, the first of the name, the Job finds nothing that does not fit.
    lines = after["caliper-tokens"]["tokens"].decode().splitlines(keepends=True)
    lines.remove(next(line for line in lines if line.startswith("gateway ")))
    installed.patch("caliper-tokens", "tokens", "".join(lines).encode())
    installed.job()
    (installed.folder / "tokens").write_text("".join(lines), "ascii")
    tokens = TokenFile(installed.folder / "tokens")
    assert (tokens.caller(old), tokens.caller(new)) == (None, Caller("gateway", Role.READ))


def test_a_second_user_takes_the_place_of_the_first(installed: Platform) -> None:
    """That both are let in is tested by tests/adapters/stores/test_users.py."""
    before = installed.held()["caliper-store-judge"]
    installed.shell(SECOND)
    after = installed.held()["caliper-store-judge"]
    assert (before["access-key"], after["access-key"]) == (b"caliper-judge", b"caliper-judge-2")
    assert after["secret-key"] == (installed.folder / "key").read_bytes() != before["secret-key"]
    installed.api.kubectl("get", "job", "storage", "--namespace", "caliper")
    # Bootstrap leaves it so.
    installed.job()
    assert installed.held()["caliper-store-judge"] == after


def test_the_password_of_kafka_is_replaced(installed: Platform) -> None:
    """That Kafka takes it is tested by tests/deploy/test_broker_of_pods.py."""
    before = installed.held()
    (installed.folder / "password").write_text("new", "ascii")
    installed.shell(PASSWORD)
    after = installed.held()
    assert changed(before, after) == {"caliper-kafka"}
    assert after["caliper-kafka"] == before["caliper-kafka"] | {"password": b"new"}
    installed.job()


def test_the_authority_is_replaced(installed: Platform) -> None:
    before = installed.held()
    installed.shell(AUTHORITY)
    installed.job()
    signed = {name for name in before if name.startswith(("caliper-ca", "caliper-tls-"))}
    assert changed(before, installed.held()) == signed
    assert len(signed) == 14


def test_files_instead_of_secrets(tmp_path: Path) -> None:
    programs = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = os.environ | {"PATH": programs, "PYTHONPATH": python_path()}
    subprocess.run(["bash", "-euc", FILES], cwd=tmp_path, env=environment, check=True)
    made = {file.parent.name for file in (tmp_path / "made").glob("*/*")}
    assert made == {recipe.name for recipe in RECIPES}
