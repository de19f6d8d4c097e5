"""What holds for all tests."""

import os

from hypothesis import HealthCheck, settings

# Machines are noisy: no example fails for the time it took. In CI the examples are the same
# every time, so that a change is judged by what it changed.
settings.register_profile(
    "caliper",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI") == "true",
)
settings.load_profile("caliper")
