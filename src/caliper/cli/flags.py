"""The flags of `evaluate` and `plan`, and those that other commands share."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from caliper.benchmarks.registry import recipe_names
from caliper.core.terms import Priority


def _option(panel: str, *flags: str, text: str, metavar: str | None = None) -> Any:
    return typer.Option(*flags, metavar=metavar, help=text, rich_help_panel=panel)


_what = partial(_option, "Data and protocol")
_who = partial(_option, "Models")
_how = partial(_option, "Execution")

Data = Annotated[Path, _what("--data", text="The dataset: a path, or a name as in docs/data.md.")]
Captions = Annotated[Path | None, _what("--captions", text="The captions to evaluate.")]
CaptionerSpec = Annotated[
    str | None,
    _who(
        "--captioner",
        metavar="SPEC",
        text="A checkpoint that writes the captions: chat:URL\\[,URL...]\\[#model\\[@revision]] or "
        "triton:HOST:PORT/MODEL\\[#OPTIONS]. Instead of --captions.",
    ),
]
Prompt = Annotated[
    str | None,
    _what(
        "--prompt",
        text="Caption prompt: simple, short, long or taxonomy. Only recorded when captions "
        "are supplied. [dim]\\[default: simple][/dim]",
    ),
]
TaxonomyFile = Annotated[
    Path | None,
    _what(
        "--taxonomy",
        text="A YAML file of nodes for --prompt taxonomy, instead of the paper's. See "
        "docs/data.md.",
    ),
]
_ANSWERER = (
    "lexical (default), chat:URL\\[,URL...]\\[#model\\[@revision]], "
    "triton:HOST:PORT/MODEL\\[#OPTIONS] or replay:DIR\\[#model]."
)
Judge = Annotated[str | None, _who("--judge", metavar="SPEC", text=_ANSWERER)]
Reader = Annotated[str | None, _who("--reader", metavar="SPEC", text=_ANSWERER)]
Tagger = Annotated[str, _who("--tagger", text="rules or spacy:MODEL.")]
EmbedderSpec = Annotated[str, _who("--embedder", text="ngram, minilm or triton:HOST:PORT/MODEL.")]
MediaRoot = Annotated[
    Path | None,
    _what("--media", text="Folder that media paths are relative to. Default: the data's folder."),
]
Qa = Annotated[
    Path | None,
    _what(
        "--qa",
        text="Questions that the captioner answers from the media (KT-bar, CompreQA).",
    ),
]
QaOnImage = Annotated[
    bool | None,
    _what("--qa", text="Ask the captioner the same questions from the picture (utility gap)."),
]
QaReplies = Annotated[
    Path | None,
    _what(
        "--qa-replies",
        text="Recorded replies to these questions, instead of asking the captioner.",
    ),
]
Name = Annotated[
    str | None, _what("--name", text="The checkpoint's label. Default: the captions' stem.")
]
Set = Annotated[
    list[str] | None,
    _what(
        "--set", metavar="KEY=VALUE", text="A protocol setting; repeatable. See docs/fidelity.md."
    ),
]
Recipe = Annotated[
    str | None,
    _what(
        "--recipe",
        text="Settings for everything not set otherwise: "
        f"{', '.join(recipe_names())}. See docs/published.md.",
    ),
]
Prepare = Annotated[
    list[str] | None,
    _what(
        "--preparation",
        metavar="KEY=VALUE",
        text="What the captioner is shown: frames, fps, longest, quality, image_bytes or clips; "
        "repeatable. See docs/media.md.",
    ),
]
CaptionTokens = Annotated[
    int | None,
    _what(
        "--caption-tokens",
        text="Maximum output tokens per caption. [dim]\\[default: 8,192][/dim]",
    ),
]
Limit = Annotated[
    int | None, _what("--limit", text="Evaluate only N randomly drawn items per task or domain.")
]
Seed = Annotated[int | None, _what("--seed", text="Random seed. [dim]\\[default: 0][/dim]")]
Repeats = Annotated[
    int | None,
    _what("--repeats", text="How many times each question is asked. Default: 1, CompreCap 3."),
]
Replicate = Annotated[
    int | None,
    _what(
        "--replicate",
        text="Repeat the run under this number, without stored replies.",
    ),
]
ShareReplies = Annotated[
    bool | None,
    _what(
        "--share-replies",
        text="Reuse replies of earlier runs even if the server reports no model revision.",
    ),
]
CoverageFloor = Annotated[
    float | None,
    _what(
        "--coverage-floor",
        text="Share of askable questions that must be scored for a run to be complete. "
        "[dim]\\[default: 0.99][/dim]",
    ),
]
JudgeShare = Annotated[
    float | None,
    _what(
        "--judge-share",
        text="Judge only this share of the questions. See docs/continuous.md.",
    ),
]
Pack = Annotated[
    Path | None, _what("--pack", text="A folder of prompts to use instead of the built-in ones.")
]
Concurrency = Annotated[
    int | None,
    _how("--concurrency", text="Model calls in flight at once. [dim]\\[default: 64][/dim]"),
]
MaxCalls = Annotated[
    int | None,
    _how(
        "--max-calls",
        text="Plan at most this many model calls; the rest is Unscored(budget).",
    ),
]
MaxTokens = Annotated[
    int | None,
    _how(
        "--max-tokens",
        text="Stop calling models after this many tokens, as their servers count them.",
    ),
]
RunPriority = Annotated[
    Priority | None,
    _how(
        "--priority",
        metavar="low|normal|high",
        text="Share of the workers while other runs wait: 1, 4 or 16. "
        "[dim]\\[default: normal][/dim]",
    ),
]
ANCHORS_COST = "67 calls for CAPability, 37 for CaptionQA, 30 for CompreCap"
Anchors = Annotated[
    bool | None,
    _how(
        "--anchors/--no-anchors",
        text=f"Also judge known captions, to detect judge drift: {ANCHORS_COST}. "
        "Default: yes, unless --max-calls or --max-tokens is given.",
    ),
]
Out = Annotated[Path | None, _how("--out", text="Run directory. Default: runs/<name>-<run id>.")]
Store = Annotated[
    Path | None,
    _how(
        "--store",
        text="Where replies are kept between runs. Default: .store beside the run directory.",
    ),
]
TARGET = "NAME[:WHERE]"
Export = Annotated[
    list[str] | None,
    _how(
        "--export",
        metavar=TARGET,
        text="A sink; repeatable. See docs/report.md.",
    ),
]
Server = Annotated[
    str | None,
    _how(
        "--server",
        metavar="HOST:PORT",
        text="Run on an installation; data that it lacks are uploaded.",
    ),
]
Json = Annotated[bool, _how("--json", text="Print the result as JSON to standard output.")]
Quiet = Annotated[bool, _how("--quiet", "-q", text="Show no progress and no tables.")]
ConfigFile = Annotated[
    Path | None,
    _what("--config", metavar="FILE", text="A run.yaml that names one or several benchmarks."),
]


def output_file(flag: str, what: str) -> typer.models.OptionInfo:
    """An option for a file to write in addition to the terminal output."""
    option: typer.models.OptionInfo = typer.Option(
        flag, metavar="PATH", dir_okay=False, help=f"Also write {what}."
    )
    return option


Page = Annotated[Path | None, output_file("--html", "a page")]
