"""`python -m services.aggregator`: settings from CALIPER_AGGREGATOR_... in the environment."""

import sys

from caliper.runtime.service_settings import AggregatorSettings
from caliper.servicers.starting import aggregator, start

sys.exit(start(AggregatorSettings, aggregator))
