"""docs/continuous.md: what it says of serving a checkpoint is what a suite takes."""

import re

from tests.fakes.sources import ROOT

from caliper.local.serve_config import ServeConfig

PAGE = (ROOT / "docs" / "continuous.md").read_text("utf-8")
SECTION = PAGE.split("## Serving a checkpoint")[1].split("\n## ")[0]


def test_every_key_is_named_with_its_default() -> None:
    named = set(re.findall(r"`(\w+)", SECTION))
    assert set(ServeConfig.model_fields) <= named
    for key in ("url", "health", "model", "port", "namespace", "slot", "start", "silence", "use"):
        default = ServeConfig.model_fields[key].default
        shown = f"{default:,g}" if isinstance(default, float) else str(default)
        told = re.search(rf"`{key}` \(`?([^`)]+?)(?: s|`|\))", SECTION)
        assert told is not None, key
        assert told[1].replace(",", "") == shown.replace(",", ""), key
