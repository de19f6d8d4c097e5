"""The table of models and GPUs in deploy/k8s/README.md; `python -m tests.deploy.model_table` writes
it anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tests.deploy.rendering import MANIFESTS
from tests.fakes.published_models import CONFIGS

from caliper.cli.size.cache import cache_of
from caliper.cli.size.configuration import Configuration
from caliper.cli.size.gpus import GPUS, MIB, ModelSize
from caliper.cli.size.weights import weight_bytes

TABLE = re.compile(r"^(\| model \| weights .*?\n)\n", re.MULTILINE | re.DOTALL)
_TOKENS = 16_384
_COLUMNS = {"24 GB": "L4", "48 GB": "L40S", "80 GB": "H100", "141 GB": "H200"}
_MODELS = (
    "Qwen/Qwen2.5-7B-Instruct",
    "Qwen/Qwen2.5-14B-Instruct",
    "Qwen/Qwen2.5-72B-Instruct",
    "Qwen/Qwen3-30B-A3B-Instruct-2507",
    "Qwen/Qwen2.5-VL-7B-Instruct",
    "Qwen/Qwen3-VL-8B-Instruct",
    "OpenGVLab/InternVL2_5-8B",
    "google/gemma-3-4b-it",
)


def sized(name: str) -> ModelSize:
    """A published model."""
    whole = Configuration(CONFIGS[name], name)
    heads = whole.decoder.number("num_attention_heads", default=8)
    sees = whole.tower is not None
    return ModelSize(name, weight_bytes(whole), cache_of(whole), heads, 32_768, sees=sees)


def _fewest(calls: Mapping[int, int]) -> str:
    """The calls at once on the fewest GPUs that take four."""
    found = next((gpus for gpus, each in calls.items() if each >= 4), None)
    if found is None:
        return ""
    return f"{calls[found]}" if found == 1 else f"{calls[found]} on {found}"


def _rows() -> Iterator[tuple[str, ...]]:
    yield ("model", "weights", "KV per token", *_COLUMNS)
    for name in _MODELS:
        model = sized(name)
        fits = (_fewest(model.fit(GPUS[gpu] * MIB, _TOKENS)) for gpu in _COLUMNS.values())
        size, token = f"{model.bytes / 1e9:.1f} GB", f"{model.cache.token / 1024:g} KiB"
        yield (name.partition("/")[2], size, token, *fits)


def table() -> str:
    """The lines of the table."""
    head, *rows = (f"| {' | '.join(row)} |\n" for row in _rows())
    return "".join((head, "|---" * (3 + len(_COLUMNS)) + "|\n", *rows))


if __name__ == "__main__":
    readme = MANIFESTS / "README.md"
    readme.write_text(TABLE.sub(f"{table()}\n", readme.read_text("utf-8")), "utf-8")
