"""Which plug-ins are found, and what is said of those that cannot be used."""

from pathlib import Path

import pytest
from tests.fakes.plugin import declare, find_in

from caliper.benchmarks import registry
from caliper.cli.app import _code
from caliper.cli.exits import Exit
from caliper.core.errors import FunctionFailed, InvalidInput
from caliper.plugins import Declaration, PluginGroup, blame, no_function


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PluginGroup[object]:
    declare(
        tmp_path,
        "a-package",
        {
            "caliper.colours": {
                "red": "json:loads",
                "green": "json:loads",
                "blue": "json:__name__",
                "own": "json:loads",
                "Not-So": "json:loads",
                "gone": "caliper_no_such_module:x",
            }
        },
    )
    declare(tmp_path, "b-package", {"caliper.colours": {"green": "json:dumps"}}, version="2.0")
    monkeypatch.syspath_prepend(tmp_path)
    return PluginGroup("colour", ("own",), no_function)


def test_a_plugin_is_loaded_with_its_package(group: PluginGroup[object]) -> None:
    assert group.load("red") is __import__("json").loads
    assert group.package("red") == "a-package 1.0"
    assert group.names == ("Not-So", "blue", "gone", "green", "red")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "blue",
            "'blue' of the package a-package 1.0 cannot be used: json:__name__ is not a function",
        ),
        ("gone", "'gone' of the package a-package 1.0 .*: it cannot be imported: ModuleNotFound"),
        ("green", "package a-package 1.0, b-package 2.0 .*: several packages have one of the same"),
        ("Not-So", "its name may have small letters, digits and _"),
    ],
)
def test_one_that_cannot_be_used_is_named_with_its_package(
    group: PluginGroup[object], name: str, message: str
) -> None:
    for _ in range(2):
        with pytest.raises(InvalidInput, match=f"the colour .*{message}"):
            group.load(name)


def test_a_name_of_ours_is_refused_only_where_it_is_claimed(group: PluginGroup[object]) -> None:
    group.check_own("another")
    with pytest.raises(InvalidInput, match=r"a-package 1\.0 .* Caliper has one of the same name"):
        group.check_own("own")


def test_all_are_listed(group: PluginGroup[object]) -> None:
    listed = list(group.declarations())
    assert [(each.name, each.package, bool(each.problem)) for each in listed] == [
        ("Not-So", "a-package", True),
        ("blue", "a-package", True),
        ("gone", "a-package", True),
        ("green", "a-package", True),
        ("green", "b-package", True),
        ("own", "a-package", True),
        ("red", "a-package", False),
    ]
    assert listed[-1] == Declaration("caliper.colours", "red", "a-package", "1.0", "json:loads", "")


def test_commands_about_all_benchmarks_leave_out_a_broken_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(tmp_path, "a-package", {"caliper.benchmarks": {"broken": "json:loads"}})
    find_in(tmp_path, monkeypatch, registry.PLUGINS)
    assert "broken" in registry.benchmark_names()
    assert tuple(registry.usable_names()) == tuple(registry.BUILT_IN)
    with pytest.raises(InvalidInput, match=r"a-package 1\.0 .* not a Benchmark of that name"):
        registry.benchmark("broken")


def test_one_that_raises_is_no_defect_of_ours() -> None:
    with (
        pytest.raises(FunctionFailed, match=r"red of a 1 raised KeyError\('x'\)") as caught,
        blame("red of a 1"),
    ):
        raise KeyError("x")
    assert _code(caught.value) is Exit.SURROUNDINGS
