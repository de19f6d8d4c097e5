"""Files that programs are told of are there, and certificates are for the names that are called."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from cryptography import x509
from tests.deploy.mounts import start
from tests.deploy.objects import Object, Pod, environment, is_ours, of_kind, pods
from tests.deploy.rendering import RENDERINGS, Rendering, rendered
from tests.servers import fetch

from caliper.adapters.cluster.recipes import SERVING
from caliper.adapters.models.triton_address import parse_addresses


def _but(*parts: str) -> pytest.MarkDecorator:
    """A mark: for every rendering but those that have one of these parts."""
    some = [each for each in RENDERINGS if not {*parts}.intersection(each.parts)]
    return pytest.mark.parametrize("rendering", some, ids=str)


_EVERY = pytest.mark.parametrize("rendering", RENDERINGS, ids=str)
_WITH_KAFKA, _WITH_MODELS = _but("external"), _but("local")
_WITH_TRITON = _but("local", "vllm-captioner")
_TOLD = re.compile(r"/(?:run|etc)/caliper/[\w./*-]*[\w*]")


def _named(container: Object, objects: tuple[Object, ...], root: Path) -> set[str]:
    """The paths of mounted files in the words that a container is started with, and in the
    files themselves.
    """
    words = [*container.get("command", []), *container.get("args", [])]
    words += environment(container, objects).values()
    for file in (each for each in root.rglob("*") if each.is_file()):
        try:
            words.append(file.read_text("utf-8"))
        except UnicodeDecodeError:
            continue
    return {path for word in words for path in _TOLD.findall(word)}


@_EVERY
def test_files_that_are_named_are_mounted(rendering: Rendering, made: Path, tmp_path: Path) -> None:
    objects = rendered(rendering)
    named = 0
    for pod in pods(objects):
        for container in pod.containers:
            root = tmp_path / pod.component / container["name"]
            start(pod, container, objects, made, root)
            for path in _named(container, objects, root):
                named += 1
                assert list(root.glob(path.lstrip("/"))), f"{pod.name} {container['name']}: {path}"
    assert named > 20


@_WITH_MODELS
def test_commands_are_python_with_options_that_are_known(
    rendering: Rendering, made: Path, tmp_path: Path
) -> None:
    """Where a container of ours does not run what the image runs: no other program is in it."""
    objects = rendered(rendering)
    run = set()
    for pod in pods(objects):
        for container in (each for each in pod.containers if is_ours(each) and "command" in each):
            run.add(pod.component)
            program, *words = container["command"]
            assert program == "python3", f"{pod.name} {container['name']} runs {program}"
            if words[0] == "-m":
                given = start(pod, container, objects, made, tmp_path / container["name"])
                assert _knows((*words, *given.arguments)), f"{pod.name} {container['name']}"
    assert run == ({"model-download"} & {pod.component for pod in pods(objects)})


@cache
def _knows(words: tuple[str, ...]) -> bool:
    """Whether a module can be run with these words: with an option that it does not know it
    fails before it tells its help.
    """
    command = [sys.executable, *words, "--help"]
    # Else the command asks the Hub which agent runs it, before it reads its options.
    offline = os.environ | {"HF_HUB_OFFLINE": "1"}
    return subprocess.run(command, env=offline, capture_output=True, check=False).returncode == 0


def test_an_option_that_is_not_known_is_found() -> None:
    words = ("-m", "huggingface_hub.cli.hf", "download", "some/model")
    assert _knows((*words, "--revision=main"))
    assert not _knows((*words, "--revisoin=main"))
    assert not _knows(("-m", "huggingface_hub.hf"))


def _certificate(made: Path, component: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(
        (made / f"caliper-tls-{component}" / "tls.crt").read_bytes()
    )


def _covers(certificate: x509.Certificate, host: str) -> bool:
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    known = names.get_values_for_type(x509.DNSName)
    return host in known or f"*.{host.partition('.')[2]}" in known


@_EVERY
def test_certificates_are_for_the_names_of_services(rendering: Rendering, made: Path) -> None:
    objects = rendered(rendering)
    names = {each["metadata"]["name"] for each in of_kind(objects, "Service")}
    for component in names & set(SERVING):
        for host in (component, f"{component}.caliper.svc.cluster.local"):
            assert _covers(_certificate(made, component), host)


@_WITH_KAFKA
def test_brokers_are_certified_under_the_names_that_they_tell(
    rendering: Rendering, made: Path
) -> None:
    (pod,) = _of(rendering, "kafka")
    given = environment(pod.spec["containers"][0], rendered(rendering))
    assert int(given["BROKERS"]) == pod.owner["spec"]["replicas"]
    for number in range(int(given["BROKERS"])):
        assert _covers(_certificate(made, "kafka"), given["NAMES"] % number)
    assert pod.spec["containers"][0]["image"].endswith(f":{fetch.kafka_version()}")
    # Each has its own name in DNS, before it is ready too: they start by finding each other.
    (service,) = (
        each["spec"]
        for each in of_kind(rendered(rendering), "Service")
        if each["metadata"]["name"] == pod.owner["spec"]["serviceName"]
    )
    assert (service["clusterIP"], service["publishNotReadyAddresses"]) == ("None", True)


@_WITH_TRITON
def test_the_captioner_names_a_model_of_the_repository(
    rendering: Rendering, made: Path, tmp_path: Path
) -> None:
    objects = rendered(rendering)
    (triton,), (captioner,) = (_of(rendering, name) for name in ("triton", "captioner"))
    folder = _models(triton, objects, made, tmp_path)
    given = environment(captioner.spec["containers"][0], objects)
    spec = given["CALIPER_CAPTIONER_MODEL"].removeprefix("triton:")
    (address,) = parse_addresses(spec, ("template",))
    assert [each.name for each in folder.iterdir()] == [address.model]
    assert (folder / address.model / "config.pbtxt").is_file()


@_WITH_TRITON
def test_triton_serves_the_checkpoint_that_is_fetched_and_tells_it(
    rendering: Rendering, made: Path, tmp_path: Path
) -> None:
    objects = rendered(rendering)
    (triton,) = _of(rendering, "triton")
    (folder,) = _models(triton, objects, made, tmp_path).iterdir()
    named = environment(triton.containers[0], objects)
    wanted = (named["CAPTIONER_REPOSITORY"], named["CAPTIONER_REVISION"])
    served = json.loads((folder / "1" / "model.json").read_text("utf-8"))
    place = "/models/{}/{}".format(*wanted)
    assert (served["model"], served["revision"]) == (place, wanted[1])
    for download in _of(rendering, "model-download"):
        fetched = start(download, download.spec["initContainers"][2], objects, made, tmp_path / "x")
        assert any(each.endswith(place) for each in fetched.arguments)
    # By this, runs tell checkpoints apart.
    told = re.search(
        r'key: "checkpoint"\s+value: \{ string_value: "(.*)" \}',
        (folder / "config.pbtxt").read_text("utf-8"),
    )
    assert told is not None
    assert told[1] == "@".join(wanted)


def _models(triton: Pod, objects: tuple[Object, ...], made: Path, root: Path) -> Path:
    """The folder of models that the script starts the server with, laid out under `root`."""
    (container,) = triton.spec["containers"]
    given = start(triton, container, objects, made, root)
    folder = root / "repository"
    places = {"GIVEN": f"{root}/etc/caliper/triton", "MODELS": str(folder), "SERVER": "echo"}
    script, *rest = (f"{root}{word}" for word in container["command"][1:])
    done = subprocess.run(
        ["/bin/sh", script, *rest, *given.arguments],
        env={"PATH": os.environ["PATH"], **given.variables, **places},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [f"--model-repository={folder}", *given.arguments]
    return folder


def _of(rendering: Rendering, component: str) -> tuple[Pod, ...]:
    return tuple(pod for pod in pods(rendered(rendering)) if pod.component == component)
