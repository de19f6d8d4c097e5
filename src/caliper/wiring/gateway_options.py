"""The options of the gateway, except for the addresses of other services."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from caliper.adapters.media.bounds import MediaLimits
from caliper.core.quotas import QuotaTable
from caliper.pipeline.store.owners import Ownership
from caliper.serving.addresses import Address
from caliper.serving.calls import viewer
from caliper.serving.settings_file import SettingsFile
from caliper.wiring.quota_file import read_quotas
from caliper.wiring.service_settings import GatewaySettings


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """The address of web pages, if any, the limits of media in pictures, the ownership of runs, and
    the quotas of teams.
    """

    page: Address | None = None
    media_limits: MediaLimits = field(default_factory=MediaLimits)
    ownership: Ownership = field(default_factory=lambda: Ownership(viewer))
    quotas: Callable[[], QuotaTable] = QuotaTable

    @classmethod
    def of(cls, settings: GatewaySettings) -> GatewayOptions:
        """The options in settings. Raises what `GatewaySettings.page` and `read_quotas` raise."""
        options = cls(settings.page(), settings.media_limits(), Ownership(viewer, settings.sharing))
        if settings.quotas is None:
            return options
        file = SettingsFile(settings.quotas, read_quotas, "quotas")
        return replace(options, quotas=file.content)
