"""What the gateway's settings say of runs, beside where other services are."""

from __future__ import annotations

from dataclasses import dataclass, field

from caliper.adapters.media.bounds import MediaLimits
from caliper.pipeline.store.owners import Ownership
from caliper.serving.addresses import Address
from caliper.serving.calls import viewer
from caliper.wiring.service_settings import GatewaySettings


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """The address of web pages, if there are any, the limits of the media in pictures, and who may
    see which runs.
    """

    page: Address | None = None
    media_limits: MediaLimits = field(default_factory=MediaLimits)
    ownership: Ownership = field(default_factory=lambda: Ownership(viewer))

    @classmethod
    def of(cls, settings: GatewaySettings) -> GatewayOptions:
        """The options in settings. Raises what `GatewaySettings.page` raises."""
        ownership = Ownership(viewer, settings.sharing)
        return cls(settings.page(), settings.media_limits(), ownership)
