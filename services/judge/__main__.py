"""`python -m services.judge`: settings from CALIPER_JUDGE_... in the environment."""

import sys

from caliper.wiring.service_settings import JudgeSettings
from caliper.wiring.startup import judge, start

sys.exit(start(JudgeSettings, judge))
