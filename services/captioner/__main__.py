"""`python -m services.captioner`: settings from CALIPER_CAPTIONER_... in the environment."""

import sys

from caliper.runtime.service_settings import CaptionerSettings
from caliper.servicers.starting import captioner, start

sys.exit(start(CaptionerSettings, captioner))
