"""Whatever interrupts it, another run makes a set whose parts fit each other."""

import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from caliper.adapters.cluster.folder import FolderSecrets
from caliper.adapters.cluster.grants import STORE_GRANTS, STREAM_GRANTS
from caliper.adapters.cluster.recipes import CALLERS, SERVING, Data, SecretPlan, recipes
from caliper.adapters.cluster.secrets import SecretStore, complete
from caliper.core.errors import StoreUnavailable
from caliper.serving.tokens import Caller, Role, TokenFile

NOW = datetime(2026, 11, 21, tzinfo=UTC)
YEAR = timedelta(days=365)
RECIPES = recipes(SecretPlan("caliper", NOW, 10 * YEAR, YEAR))
SecretData = dict[str, bytes]


def held(folder: Path) -> SecretData:
    """All files under a folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@dataclass
class Interrupted:
    """A keeper that `happens` upon when it is to write the `at`th Secret, counted from 0."""

    inner: SecretStore
    at: int
    happens: Callable[[], None]
    made: int = 0

    def read(self, name: str) -> Data | None:
        return self.inner.read(name)

    def create(self, name: str, kind: str, data: Data) -> bool:
        self.made += 1
        if self.made == self.at + 1:
            self.happens()
        return self.inner.create(name, kind, data)

    def replace(self, name: str, kind: str, data: Data) -> None:
        self.made += 1
        if self.made == self.at + 1:
            self.happens()
        self.inner.replace(name, kind, data)


class Killed(Exception):
    pass


def killed() -> None:
    raise Killed


def test_everything_is_made_and_then_left_alone(tmp_path: Path) -> None:
    assert complete(FolderSecrets(tmp_path), RECIPES) == []
    first = held(tmp_path)
    assert {name.partition("/")[0] for name in first} == {recipe.name for recipe in RECIPES}
    assert complete(FolderSecrets(tmp_path), RECIPES) == []
    assert held(tmp_path) == first


def test_a_namespace_may_have_the_longest_name_there_is(tmp_path: Path) -> None:
    long = recipes(SecretPlan("n" * 63, NOW, YEAR, YEAR))
    assert complete(FolderSecrets(tmp_path), long) == []
    assert complete(FolderSecrets(tmp_path), long) == []


def test_nobody_else_can_read_the_files(tmp_path: Path) -> None:
    complete(FolderSecrets(tmp_path / "new"), RECIPES)
    for place in (tmp_path / "new", *(tmp_path / "new").rglob("*")):
        mode = stat.S_IMODE(place.stat().st_mode)
        assert mode == (0o700 if place.is_dir() else 0o600), place


def test_no_secret_is_that_of_another_installation(tmp_path: Path) -> None:
    for name in ("here", "there"):
        complete(FolderSecrets(tmp_path / name), RECIPES)
    here, there = held(tmp_path / "here"), held(tmp_path / "there")
    alike = {name for name in here if here[name] == there[name]}
    users = {f"caliper-kafka-{user}/user" for user in STREAM_GRANTS}
    users |= {f"caliper-store-{user}/access-key" for user in STORE_GRANTS}
    known = {"caliper-kafka/user", "caliper-minio/access-key", "caliper-grafana/user"}
    assert alike == known | users
    secret = [text for name, text in here.items() if name not in alike | {"caliper-tokens/tokens"}]
    words = [text for text in secret if not text.startswith(b"-----BEGIN")]
    assert len(words) == len(set(words)) == 14 + len(users)
    assert all(len(text) == 64 for text in words)


def test_users_are_none_of_another_installation_on_the_same_servers(tmp_path: Path) -> None:
    names = []
    for namespace in ("here", "there"):
        complete(
            FolderSecrets(tmp_path / namespace), recipes(SecretPlan(namespace, NOW, YEAR, YEAR))
        )
        made = held(tmp_path / namespace)
        users = (f"caliper-kafka-{user}/user" for user in STREAM_GRANTS)
        keys = (f"caliper-store-{user}/access-key" for user in STORE_GRANTS)
        names.append({made[file] for file in (*users, *keys)})
    assert names[0].isdisjoint(names[1])


@pytest.mark.parametrize("at", range(len(RECIPES)))
def test_a_run_that_was_killed_is_made_whole_by_the_next(tmp_path: Path, at: int) -> None:
    keeper = FolderSecrets(tmp_path)
    with pytest.raises(Killed):
        complete(Interrupted(keeper, at, killed), RECIPES)
    before = held(tmp_path)
    assert len({name.partition("/")[0] for name in before}) == at
    assert complete(keeper, RECIPES) == []
    after = held(tmp_path)
    assert {name: after[name] for name in before} == before
    assert complete(keeper, RECIPES) == []


@pytest.mark.parametrize("at", range(len(RECIPES)))
def test_two_at_once_end_with_one_set(tmp_path: Path, at: int) -> None:
    keeper = FolderSecrets(tmp_path)
    found: list[SecretData] = []

    def overtaken() -> None:
        assert complete(keeper, RECIPES) == []
        found.append(held(tmp_path))

    assert complete(Interrupted(keeper, at, overtaken), RECIPES) == []
    assert [held(tmp_path)] == found


def test_tokens_have_the_roles_that_the_token_file_gives_them(folder: Path) -> None:
    tokens = TokenFile(folder / "caliper-tokens" / "tokens")
    for caller, (name, role) in CALLERS.items():
        token = (folder / f"caliper-token-{caller}" / "token").read_text("ascii")
        assert tokens.caller(token) == Caller(name, Role(role))
        assert token not in (folder / "caliper-tokens" / "tokens").read_text("ascii")


def remove(folder: Path, *names: str) -> None:
    for name in names:
        for file in (folder / name).iterdir():
            file.unlink()
        (folder / name).rmdir()


def test_what_is_deleted_is_made_anew_by_the_same_authority(folder: Path) -> None:
    keeper = FolderSecrets(folder)
    before = held(folder)
    renewed = ("caliper-tls-kafka", "caliper-token-evaluate", "caliper-tokens")
    remove(folder, *renewed)
    assert complete(keeper, RECIPES) == []
    after = held(folder)
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {name for name in before if name.startswith(renewed)} - {
        "caliper-tls-kafka/ca.crt"
    }


def test_a_new_token_is_let_in_by_a_line_beside_the_old_one(folder: Path) -> None:
    keeper, file = FolderSecrets(folder), folder / "caliper-tokens" / "tokens"
    token = folder / "caliper-token-evaluate" / "token"
    old = token.read_text("ascii")
    remove(folder, "caliper-token-evaluate")
    (fault,) = complete(keeper, RECIPES)
    start = "Secret caliper-tokens: it lacks the token of caliper-token-evaluate: add the line `"
    assert fault.startswith(f"{start}ours evaluate ")
    assert token.read_text("ascii") not in fault
    line = fault.removeprefix(start).removesuffix("`")
    file.write_text(f"# both for now\n{file.read_text('ascii')}{line}\n", "ascii")
    assert complete(keeper, RECIPES) == []
    tokens = TokenFile(file)
    for each in (old, token.read_text("ascii")):
        assert tokens.caller(each) == Caller("ours", Role.EVALUATE)


def test_the_token_file_may_hold_more_and_give_other_roles(folder: Path) -> None:
    keeper, file = FolderSecrets(folder), folder / "caliper-tokens" / "tokens"
    changed = file.read_bytes().replace(b"ours evaluate", b"ours read")
    file.write_bytes(b"# \xff\n\nothers read " + b"0" * 64 + b"\n" + changed)
    assert complete(keeper, RECIPES) == []
    file.write_bytes(changed.replace(b"ours", b"theirs"))
    assert len(complete(keeper, RECIPES)) == 1


def test_another_authority_is_told_apart_from_what_the_first_one_signed(folder: Path) -> None:
    keeper = FolderSecrets(folder)
    remove(folder, "caliper-ca")
    faults = complete(keeper, RECIPES)
    assert faults == [
        "Secret caliper-ca-certificate: it does not hold the certificate of caliper-ca",
        *(
            f"Secret caliper-tls-{each}: the authority did not sign the certificate"
            for each in SERVING
        ),
    ]
    # While certificates are replaced, both are trusted.
    bundle = folder / "caliper-ca-certificate" / "ca.crt"
    new = (folder / "caliper-ca" / "ca.crt").read_bytes()
    bundle.write_bytes(bundle.read_bytes() + new)
    remove(folder, *(f"caliper-tls-{each}" for each in SERVING))
    assert complete(keeper, RECIPES) == []


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("caliper-ca/ca.key", b"", "caliper-ca: certificate or key of the authority cannot be"),
        ("caliper-ca/ca.key", None, "caliper-ca: it has no ca.key"),
        ("caliper-tls-judge/tls.key", None, "caliper-tls-judge: it has no tls.key"),
        (
            "caliper-tls-kafka/keystore.pem",
            b"x",
            "caliper-tls-kafka: keystore.pem does not hold the",
        ),
        ("caliper-kafka/password", b"\n", "caliper-kafka: password is empty"),
        ("caliper-token-admin/token", b"", "caliper-token-admin: token is empty"),
        ("caliper-tokens/tokens", None, "caliper-tokens: it has no tokens"),
    ],
)
def test_what_is_broken_is_named_once(
    folder: Path, file: str, text: bytes | None, expected: str
) -> None:
    keeper = FolderSecrets(folder)
    (folder / file).unlink()
    if text is not None:
        (folder / file).write_bytes(text)
    (fault,) = complete(keeper, RECIPES)
    assert fault.startswith(f"Secret {expected}")


def test_a_folder_that_cannot_be_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "ascii")
    keeper = FolderSecrets(tmp_path / "file" / "below")
    with pytest.raises(StoreUnavailable, match="Not a directory"):
        keeper.read("caliper-ca")
    with pytest.raises(StoreUnavailable, match="Not a directory"):
        keeper.create("caliper-ca", "Opaque", {"ca.crt": b"x"})
