"""`python -m services.aggregator`: settings from CALIPER_AGGREGATOR_... in the environment."""

import sys

from caliper.wiring.service_settings import AggregatorSettings
from caliper.wiring.startup import aggregator, start

sys.exit(start(AggregatorSettings, aggregator))
