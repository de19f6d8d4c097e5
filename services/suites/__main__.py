"""`python -m services.suites`: settings from CALIPER_SUITES_... in the environment."""

import sys

from caliper.local.suite_service import suites
from caliper.wiring.startup import start
from caliper.wiring.suites_settings import SuitesSettings

sys.exit(start(SuitesSettings, suites))
