"""The flags of `evaluate` and `plan`, and those that other commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from caliper.benchmarks.registry import recipe_names

_WHAT = "What is measured"
_WHO = "Who captions, judges and reads"
_HOW = "How the run goes"

Data = Annotated[
    Path, typer.Option("--data", help="The dataset in its official layout.", rich_help_panel=_WHAT)
]
Captions = Annotated[
    Path | None,
    typer.Option("--captions", help="The captions to evaluate.", rich_help_panel=_WHAT),
]
CaptionerSpec = Annotated[
    str | None,
    typer.Option(
        "--captioner",
        metavar="SPEC",
        help="A checkpoint that writes the captions: tgi:URL\\[,URL...]\\[#model\\[@revision]] or "
        "triton:HOST:PORT/MODEL\\[#OPTIONS]. Instead of --captions.",
        rich_help_panel=_WHO,
    ),
]
Prompt = Annotated[
    str | None,
    typer.Option(
        "--prompt",
        help="Caption prompt: simple, short, long or taxonomy. Only recorded when captions "
        "are supplied. [dim]\\[default: simple][/dim]",
        rich_help_panel=_WHAT,
    ),
]
TaxonomyFile = Annotated[
    Path | None,
    typer.Option(
        "--taxonomy",
        help="A YAML file of the nodes that --prompt taxonomy lists, instead of the paper's. "
        "See docs/data.md.",
        rich_help_panel=_WHAT,
    ),
]
Judge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="SPEC",
        help="lexical (default), tgi:URL\\[,URL...]\\[#model\\[@revision]], "
        "triton:HOST:PORT/MODEL\\[#OPTIONS] or replay:DIR\\[#model].",
        rich_help_panel=_WHO,
    ),
]
Reader = Annotated[
    str | None,
    typer.Option(
        "--reader",
        metavar="SPEC",
        help="lexical (default), tgi:URL\\[,URL...]\\[#model\\[@revision]], "
        "triton:HOST:PORT/MODEL\\[#OPTIONS] or replay:DIR\\[#model].",
        rich_help_panel=_WHO,
    ),
]
Tagger = Annotated[
    str, typer.Option("--tagger", help="rules or spacy:MODEL.", rich_help_panel=_WHO)
]
EmbedderSpec = Annotated[
    str,
    typer.Option(
        "--embedder", help="ngram, minilm or triton:HOST:PORT/MODEL.", rich_help_panel=_WHO
    ),
]
MediaRoot = Annotated[
    Path | None,
    typer.Option(
        "--media",
        help="Folder that media paths are relative to. Default: the data's folder.",
        rich_help_panel=_WHAT,
    ),
]
Qa = Annotated[
    Path | None,
    typer.Option(
        "--qa",
        help="The dataset in question form: the captioner answers it from the media "
        "(KT-bar, CompreQA).",
        rich_help_panel=_WHAT,
    ),
]
QaOnImage = Annotated[
    bool | None,
    typer.Option(
        "--qa",
        help="Ask the captioner the same questions from the picture (utility gap).",
        rich_help_panel=_WHAT,
    ),
]
QaReplies = Annotated[
    Path | None,
    typer.Option(
        "--qa-replies",
        help="Recorded replies to the questions from the media, instead of asking the captioner.",
        rich_help_panel=_WHAT,
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--name",
        help="The checkpoint's label. Default: the captions' stem.",
        rich_help_panel=_WHAT,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A protocol setting; repeatable. See docs/fidelity.md.",
        rich_help_panel=_WHAT,
    ),
]
Recipe = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        help="Use the settings behind published figures for everything not set otherwise. "
        f"Known: {', '.join(recipe_names())}. See docs/published.md.",
        rich_help_panel=_WHAT,
    ),
]
Prepare = Annotated[
    list[str] | None,
    typer.Option(
        "--preparation",
        metavar="KEY=VALUE",
        help="What the captioner is shown: frames, fps, longest, quality or image_bytes; "
        "repeatable. See docs/media.md.",
        rich_help_panel=_WHAT,
    ),
]
CaptionTokens = Annotated[
    int | None,
    typer.Option(
        "--caption-tokens",
        help="Maximum output tokens per caption: prompt, pictures and caption must fit the "
        "captioner's context. [dim]\\[default: 8192][/dim]",
        rich_help_panel=_WHAT,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        help="Evaluate only N randomly drawn items per task or domain.",
        rich_help_panel=_WHAT,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", help="Random seed. [dim]\\[default: 0][/dim]", rich_help_panel=_WHAT),
]
Repeats = Annotated[
    int | None,
    typer.Option(
        "--repeats",
        help="How many times each question is asked. Default: 1, CompreCap 3.",
        rich_help_panel=_WHAT,
    ),
]
Replicate = Annotated[
    int | None,
    typer.Option(
        "--replicate",
        help="Repeat the run under this number: same questions, no stored replies reused.",
        rich_help_panel=_WHAT,
    ),
]
ShareReplies = Annotated[
    bool | None,
    typer.Option(
        "--share-replies",
        help="Reuse replies of earlier runs even if the server reports no model revision.",
        rich_help_panel=_WHAT,
    ),
]
CoverageFloor = Annotated[
    float | None,
    typer.Option(
        "--coverage-floor",
        help="Share of askable questions that must be scored for a run to be complete. "
        "[dim]\\[default: 0.99][/dim]",
        rich_help_panel=_WHAT,
    ),
]
Pack = Annotated[
    Path | None,
    typer.Option(
        "--pack",
        help="A folder of prompts to use instead of the built-in ones.",
        rich_help_panel=_WHAT,
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        help="Model calls in flight at once. [dim]\\[default: 64][/dim]",
        rich_help_panel=_HOW,
    ),
]
MaxCalls = Annotated[
    int | None,
    typer.Option(
        "--max-calls",
        help="Plan at most this many model calls; the rest of the plan is Unscored(budget).",
        rich_help_panel=_HOW,
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        help="Stop asking models after this many tokens, as their servers count them.",
        rich_help_panel=_HOW,
    ),
]
ANCHORS_COST = "67 calls for CAPability, 37 for CaptionQA, 30 for CompreCap"
Anchors = Annotated[
    bool | None,
    typer.Option(
        "--anchors/--no-anchors",
        help="Judge known captions as well, never from the cache, to tell judge drift from a "
        f"better checkpoint: {ANCHORS_COST}. Scores do not depend on it. "
        "Default: yes, unless --max-calls or --max-tokens is given.",
        rich_help_panel=_HOW,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Run directory. Default: runs/<name>-<run id>.", rich_help_panel=_HOW
    ),
]
Store = Annotated[
    Path | None,
    typer.Option(
        "--store",
        help="Where replies are kept between runs. Default: .store beside the run directory.",
        rich_help_panel=_HOW,
    ),
]
Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="HOST:PORT",
        help="Run on an installation, through its gateway, instead of in this process. Data are "
        "pushed to the store named by CALIPER_STORE.",
        rich_help_panel=_HOW,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print the result as JSON to standard output.", rich_help_panel=_HOW
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Show no progress and no tables.", rich_help_panel=_HOW),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="A run.yaml that names one or several benchmarks.",
        rich_help_panel=_WHAT,
    ),
]


def also_written(flag: str, what: str) -> typer.models.OptionInfo:
    """An option for a file to write in addition to the terminal output."""
    option: typer.models.OptionInfo = typer.Option(
        flag, metavar="PATH", help=f"Also write {what} to PATH; missing folders are created."
    )
    return option
