"""`python -m services.gateway`: settings from CALIPER_GATEWAY_... in the environment."""

import sys

from caliper.wiring.service_settings import GatewaySettings
from caliper.wiring.startup import gateway, start

sys.exit(start(GatewaySettings, gateway))
