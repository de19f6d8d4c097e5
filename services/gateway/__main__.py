"""`python -m services.gateway`: settings from CALIPER_GATEWAY_... in the environment."""

import sys

from caliper.runtime.service_settings import GatewaySettings
from caliper.servicers.starting import gateway, start

sys.exit(start(GatewaySettings, gateway))
