"""Which Pythons the wheel is tried on."""

from pathlib import Path

import pytest

from tools import wheel


def test_the_newest_of_each_other_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(wheel, "SERIES", ("3.1", "3.2"))
    for version in ("3.1.9", "3.1.10", "3.1.2rc1"):
        folder = tmp_path / "versions" / version / "bin"
        folder.mkdir(parents=True)
        (folder / "python3.1").touch()
    (found,) = wheel.other_pythons()
    assert Path(found).parts[-3] == "3.1.10"
