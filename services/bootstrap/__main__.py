"""`python -m services.bootstrap`: settings from CALIPER_BOOTSTRAP_... in the environment."""

import sys

from caliper.wiring.bootstrap import bootstrap

sys.exit(bootstrap())
