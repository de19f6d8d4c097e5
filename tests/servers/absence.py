"""What becomes of a test whose server cannot be had."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def leave_out(name: str, reason: object) -> NoReturn:
    """Skip the test, or fail it where CI=true promises everything."""
    missing = f"no {name} for this test: {reason}"
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)
