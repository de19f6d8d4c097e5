"""Run benches: `python -m bench [name...]`; by default all of them."""

from __future__ import annotations

import importlib
import sys

# A bench is a module with `main() -> None` that prints its figures, each with its bound or peer.
# Modules are imported only when they run.
BENCHES = {
    "start": "bench.start",
    "lexical_rate": "bench.lexical_rate",
    "chat_rate": "bench.chat_rate",
    "services_rate": "bench.services.rates",
    "services_judges": "bench.services.judges",
    "services_sizes": "bench.services.sizes",
    "services_fairness": "bench.services.fairness",
    "aggregator_rate": "bench.aggregator_rate",
    "aggregators_shared": "bench.aggregators_shared",
    "metrics_freshness": "bench.metrics_freshness",
    "standalone_run": "bench.standalone_run",
    "endpoint_run": "bench.endpoint_run",
    "media_memory": "bench.media_memory",
    "pages": "bench.pages",
    "view": "bench.view",
    "coverage": "bench.coverage",
    "soak": "bench.soak",
    "sequential": "bench.sequential.report",
    "thirty": "bench.thirty.report",
}


def main(names: list[str]) -> int:
    """Run the named benches. Returns 2 for an unknown name."""
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"unknown bench {', '.join(unknown)}; known: {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    for name in names or BENCHES:
        importlib.import_module(BENCHES[name]).main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
