"""`python -m services.suites`: settings from CALIPER_SUITES_... in the environment."""

import sys

from caliper.local.suite_service import suites
from caliper.wiring.service_settings import SuitesSettings
from caliper.wiring.startup import start

sys.exit(start(SuitesSettings, suites))
