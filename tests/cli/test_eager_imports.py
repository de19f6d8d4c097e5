"""What is imported before a command begins; test_start.py has what it imports while it runs."""

from pathlib import Path

import pytest
from tests.fakes.imported_modules import imported

LIBRARIES = frozenset(
    {"aiohttp", "av", "cryptography", "grpc", "kafka", "minio", "pyarrow", "scipy"}
)
"""What takes long to import, and that not every command needs."""
CALLING = ("build", "checkpoint", "data", "serve", "suite", "trend", "view")
"""Commands that serve, or call services or models, in any case."""
OTHERS = """
from importlib import import_module
from caliper.cli.commands import COMMANDS
for name, (place, _) in COMMANDS.items():
    if name not in sys.argv:
        import_module("caliper.cli." + place.partition(":")[0])
"""


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_options_of_the_top_level_import_no_command(tmp_path: Path, option: str) -> None:
    found = imported(tmp_path, option)
    assert "caliper.cli.app" in found
    assert sorted(found & {*LIBRARIES, "numpy"}) == []
    assert not {name for name in found if name.startswith(("caliper.benchmarks", "pydantic"))}


def test_commands_wait_with_imports_for_what_their_run_needs(tmp_path: Path) -> None:
    found = imported(tmp_path, *CALLING, program=OTHERS)
    assert {"caliper.cli.evaluate", "caliper.cli.compare"} <= found
    assert sorted(found & LIBRARIES) == []
