"""`python -m services.judge`: settings from CALIPER_JUDGE_... in the environment."""

import sys

from caliper.runtime.service_settings import JudgeSettings
from caliper.servicers.starting import judge, start

sys.exit(start(JudgeSettings, judge))
