"""`caliper size`: the GPUs that a model needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from caliper.adapters.models.checkpoint_files import (
    CheckpointFiles,
    read_local,
    read_published,
)
from caliper.cli.console import OUT, plain, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.size.cache import cache_of
from caliper.cli.size.configuration import Configuration
from caliper.cli.size.decoders import with_defaults
from caliper.cli.size.gpus import DEGREES, GPUS, MIB, ModelSize
from caliper.cli.size.weights import weight_bytes
from caliper.cli.tables import text_table
from caliper.core.errors import InvalidInput, UnknownName
from caliper.wiring.data_sources import hub_endpoint

_CONTEXT = 16_384
_GIB = 2**30

Named = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A config.json, a folder, or owner/name\\[@revision] on the Hub.",
    ),
]
Context = Annotated[
    int | None,
    typer.Option("--context", min=1, help="Tokens per call. [dim]\\[default: 16,384][/dim]"),
]
Gpus = Annotated[
    list[str] | None,
    typer.Option("--gpu", metavar="NAME", help=f"Only {', '.join(GPUS)} or GiB."),
]


def command(model: Named, context: Context = None, gpu: Gpus = None, json: Json = False) -> int:
    """Estimate which GPUs hold a model, and its calls at once.

    Weights are read from the headers of safetensors if MODEL has any, else computed from its
    config.json. A server takes 90% of a GPU and needs 2 GiB of it, with pictures 3; keys and
    values have 16 bits. Exit code 1: eight GPUs are too few.
    """
    folder = Path(model)
    files = read_local(folder) if folder.exists() else read_published(model, hub_endpoint())
    sized = _model(files)
    if context is not None and context > sized.context:
        raise InvalidInput(f"the model's context ends at {sized.context:,} tokens", file=model)
    tokens = context or min(_CONTEXT, sized.context)
    gpus = _memory_of(gpu or list(GPUS))
    if json:
        write_json(_document(sized, tokens, gpus))
    else:
        _show(sized, tokens, gpus)
    fits = (sized.fit(size * MIB, tokens) for size in gpus.values())
    return Exit.DONE if any(calls for each in fits for calls in each.values()) else Exit.NO


def _model(files: CheckpointFiles) -> ModelSize:
    whole = Configuration(files.config, files.file)
    text = with_defaults(whole.decoder)
    return ModelSize(
        name=files.name,
        weights=files.tensors or weight_bytes(whole),
        cache=cache_of(whole),
        heads=text.number("num_attention_heads"),
        context=text.number("max_position_embeddings"),
        sees=whole.tower is not None,
    )


def _memory_of(names: list[str]) -> dict[str, int]:
    """The memory in MiB of GPUs by name or by their GiB."""
    by_name = {name.upper(): name for name in GPUS}
    memory = {}
    for name in names:
        if name.isdecimal():
            memory[f"{name} GiB"] = int(name) * 1024
        elif name.upper() in by_name:
            memory[by_name[name.upper()]] = GPUS[by_name[name.upper()]]
        else:
            raise UnknownName("GPU", name, tuple(GPUS))
    return memory


def _document(model: ModelSize, tokens: int, gpus: Mapping[str, int]) -> dict[str, Any]:
    return {
        "model": model.name,
        "weights_bytes": model.bytes,
        "weights_bytes_by_type": model.weights,
        "kv_bytes_per_token": model.cache.token,
        "kv_bytes_per_call": model.cache.call(tokens),
        "context": tokens,
        "gpus": [
            {
                "gpu": name,
                "memory_bytes": size * MIB,
                "calls_by_tensor_parallel": model.fit(size * MIB, tokens),
            }
            for name, size in gpus.items()
        ],
    }


def _show(model: ModelSize, tokens: int, gpus: Mapping[str, int]) -> None:
    parts = [f"{size / 1e9:.1f} GB {plain(name)}" for name, size in model.weights.items()]
    whole = f"{model.bytes / 1e9:.1f} GB: " if len(parts) > 1 else ""
    OUT.print(plain(model.name), highlight=False)
    OUT.print(f"weights: {whole}{', '.join(parts)}", highlight=False)
    cached = model.cache.call(tokens) / _GIB
    OUT.print(
        f"KV cache: {model.cache.token / 1024:g} KiB per token, {cached:.2f} GiB per call of "
        f"{tokens:,} tokens",
        highlight=False,
    )
    grid = text_table(
        ["calls at once on"], ["memory", "1 GPU", *(f"{each} GPUs" for each in DEGREES[1:])]
    )
    for name, size in gpus.items():
        calls = model.fit(size * MIB, tokens).values()
        grid.add_row(
            name, f"{size / 1024:.1f} GiB", *(f"{each:,}" if each else "-" for each in calls)
        )
    OUT.print(grid)
