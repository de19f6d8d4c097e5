"""The benchmarks that can be built."""

from __future__ import annotations

from caliper.building.capability.kind import CAPABILITY
from caliper.building.captionqa.kind import CAPTIONQA
from caliper.building.comprecap.kind import COMPRECAP
from caliper.building.kinds import BuildKind
from caliper.core.errors import UnknownName

KINDS = {kind.benchmark: kind for kind in (CAPTIONQA, CAPABILITY, COMPRECAP)}


def kind_of(benchmark: str) -> BuildKind:
    """The kind of builds of a benchmark. Raises UnknownName."""
    if benchmark not in KINDS:
        raise UnknownName("benchmark", benchmark, tuple(KINDS))
    return KINDS[benchmark]
