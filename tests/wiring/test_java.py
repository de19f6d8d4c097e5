from pathlib import Path

import pytest
from tests.fakes.meteor import java_stand_in

from caliper.core.errors import InvalidInput
from caliper.wiring.java import find_java


def test_java_is_that_of_its_home_else_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, other = java_stand_in(tmp_path / "home"), java_stand_in(tmp_path / "other")
    monkeypatch.setenv("PATH", str(Path(other).parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java("--meteor") == home
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java("--meteor") == other
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InvalidInput, match="--meteor: needs Java: install it, or set JAVA_HOME"):
        find_java("--meteor")
