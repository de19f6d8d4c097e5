"""One caption that lists everything, in place of the captions of the examples."""

import json
import re
from pathlib import Path

import yaml
from tests.fakes.sources import EXAMPLES

from caliper.benchmarks.capability.tasks import ALTERNATIVES
from caliper.lexical import neighbours, synonyms, vocabulary
from caliper.lexical.shades import FAMILIES

_LISTS = (vocabulary.KINDS, neighbours.THINGS, neighbours.DEEDS, synonyms.SYNONYMS)
_NUMBERS = re.findall("[a-z]+", "one two three four five six seven eight nine ten eleven twelve")


def stuffed() -> str:
    """All our word lists: names of categories, colours and numbers."""
    words = re.findall("[a-z]+", " ".join(_LISTS))
    stated = [name for names in ALTERNATIVES for name in names]
    return ", ".join(dict.fromkeys([*stated, *sorted(FAMILIES), *_NUMBERS, *words])) + "."


def stuff(folder: Path, text: str) -> Path:
    """A configuration of the examples in which every caption is `text`."""
    config = yaml.safe_load((EXAMPLES / "careful.yaml").read_text("utf-8"))
    for name, part in config["benchmarks"].items():
        source = EXAMPLES / part["captions"]
        target = folder / "captions" / name
        # Nobody looks at the media.
        del part["media"]
        part["data"] = str(EXAMPLES / part["data"])
        if source.is_dir():
            target.mkdir(parents=True)
            for file in source.glob("*.jsonl"):
                rows = map(json.loads, file.read_text("utf-8").splitlines())
                lines = [json.dumps({**row, "caption": text}) for row in rows]
                (target / file.name).write_text("\n".join(lines), "utf-8")
        else:
            captions = dict.fromkeys(json.loads(source.read_text("utf-8")), text)
            target = target.with_suffix(".json")
            target.write_text(json.dumps(captions), "utf-8")
        part["captions"] = str(target)
    config_file = folder / "stuffed.yaml"
    config_file.write_text(yaml.safe_dump({**config, "name": "stuffed"}), "utf-8")
    return config_file
