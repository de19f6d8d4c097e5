import asyncio
from functools import partial

import pytest

from caliper.cli.doctor.examination import Check, examine
from caliper.cli.doctor.findings import ComponentState, Diagnosis
from caliper.core.errors import CaliperError, StoreUnavailable

SECRET = "open sesame"


async def fine() -> Diagnosis:
    return Diagnosis("one", ComponentState.OK, f"said {SECRET}")


async def failing(error: Exception) -> Diagnosis:
    raise error


async def endless() -> Diagnosis:
    await asyncio.Event().wait()
    raise AssertionError("an event that nobody sets was set")


async def found(check: Check, seconds: float = 60) -> Diagnosis:
    heard: list[Diagnosis] = []
    (finding,) = await examine([("one", check)], [SECRET], seconds, heard.append)
    assert heard == [finding]
    assert SECRET not in finding.message
    return finding


async def test_no_finding_holds_a_secret() -> None:
    assert (await found(fine)).message == "said ***"
    for error in (StoreUnavailable(SECRET), CaliperError(SECRET), OSError(SECRET)):
        finding = await found(partial(failing, error))
        assert finding.state is ComponentState.PROBLEM
        assert "***" in finding.message


async def test_an_endless_check_is_a_problem() -> None:
    finding = await found(endless, 0.01)
    assert finding.state is ComponentState.PROBLEM
    assert "--timeout" in finding.advice


async def test_a_defect_is_no_finding() -> None:
    with pytest.raises(ZeroDivisionError):
        await found(partial(failing, ZeroDivisionError()))
