"""`python -m services.captioner`: settings from CALIPER_CAPTIONER_... in the environment."""

import sys

from caliper.wiring.service_settings import CaptionerSettings
from caliper.wiring.startup import captioner, start

sys.exit(start(CaptionerSettings, captioner))
