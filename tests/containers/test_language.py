"""The target with spaCy and MiniLM: what is in it, and that the other one is without."""

import json
import re

import pytest
from tests.containers.contents import listing, wrong
from tests.fakes.sources import ROOT
from tests.servers import containers
from tests.servers.containers import DOCKERFILE

LOCK = DOCKERFILE.with_name("language.lock")
_PINNED = re.compile(r"^([a-z0-9_.-]+)==(\S+)", re.MULTILINE)
VERSIONS = """
import json
from importlib.metadata import distributions
print(json.dumps({found.metadata["Name"].lower().replace("_", "-"): found.version
                  for found in distributions()}))
"""


def pinned(text: str) -> dict[str, str]:
    return dict(_PINNED.findall(text))


@pytest.fixture(scope="module")
def language(image: str) -> str:
    # Its packages take half a minute to copy, and are the same whatever our code is.
    return containers.image("language", any_code=True)


def test_it_is_the_image_and_what_its_lock_names(image: str, language: str) -> None:
    more = pinned(LOCK.read_text("utf-8"))
    without, with_ = (json.loads(containers.python(each, VERSIONS)) for each in (image, language))
    assert with_ == without | more
    assert not without.keys() & more.keys()
    assert {"spacy", "tokenizers", "safetensors"} <= more.keys()


def test_the_locks_do_not_overlap() -> None:
    ours = pinned((ROOT / "requirements.lock").read_text("utf-8"))
    more = pinned(LOCK.read_text("utf-8"))
    assert not ours.keys() & more.keys()


def test_nothing_else_came_with_it(language: str) -> None:
    assert {entry.path: wrong(entry) for entry in listing(language) if wrong(entry)} == {}


def test_a_model_that_is_not_there_is_named(image: str, language: str) -> None:
    asked = ("caliper", "doctor", "--tagger", "spacy:en_core_web_sm", "--out", "/tmp")
    there = containers.run(language, *asked, options=containers.OUR_CODE)
    without = containers.run(image, *asked)
    assert (there.returncode, without.returncode) == (1, 1)
    assert "en_core_web_sm" in there.stdout
    assert "pip install 'caliper-captions[spacy]'" in without.stdout
    assert "pip install 'caliper-captions[spacy]'" not in there.stdout
