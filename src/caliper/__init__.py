"""Caliper: evaluate image and video captioning checkpoints on three benchmarks.

>>> import caliper
>>> run = caliper.evaluate(
...     "examples/captions/careful/captionqa.json",
...     {"captionqa": "examples/captionqa/questions.json"},
...     name="careful",
...     out="runs/example",
...     progress=False,
... )
>>> print(run)
careful (complete): CaptionQA ...
"""

from __future__ import annotations

import os

# As in `typing`, which takes long to import, while Ctrl-C still leaves a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from caliper.core.errors import CaliperError
    from caliper.library.client import (
        Client,
        acompare,
        aevaluate,
        agate,
        aleaderboard,
        aload,
        aplan,
        atrend,
        compare,
        connect,
        evaluate,
        gate,
        leaderboard,
        load,
        plan,
        trend,
    )
    from caliper.library.model import Model
    from caliper.library.results import (
        GateDecision,
        Leaderboard,
        RunComparison,
        RunEstimate,
        RunTrend,
    )
    from caliper.library.run import Run
    from caliper.local.registration import register_checkpoint

__all__ = [
    "CaliperError",
    "Client",
    "GateDecision",
    "Leaderboard",
    "Model",
    "Run",
    "RunComparison",
    "RunEstimate",
    "RunTrend",
    "acompare",
    "aevaluate",
    "agate",
    "aleaderboard",
    "aload",
    "aplan",
    "atrend",
    "compare",
    "connect",
    "evaluate",
    "gate",
    "leaderboard",
    "load",
    "plan",
    "register_checkpoint",
    "trend",
]
_PLACES = {
    "CaliperError": "caliper.core.errors",
    "Model": "caliper.library.model",
    "Run": "caliper.library.run",
    **dict.fromkeys(
        ("GateDecision", "Leaderboard", "RunComparison", "RunEstimate", "RunTrend"),
        "caliper.library.results",
    ),
    "register_checkpoint": "caliper.local.registration",
    "__version__": "caliper.version",
}
"""The modules of names that are not in `caliper.library.client`."""

# Set before anything imports huggingface_hub: the first completion of a process would ask the Hub,
# inside the event loop, which agent runs it.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")


def __getattr__(name: str) -> Any:
    from importlib import import_module  # noqa: PLC0415 - as `typing` above

    # Imported on access: commands that do not need it start faster.
    if name in __all__ or name in _PLACES:
        return getattr(import_module(_PLACES.get(name, "caliper.library.client")), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
