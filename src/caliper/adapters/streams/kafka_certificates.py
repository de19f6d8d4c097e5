"""Certificates of Kafka's brokers."""

from __future__ import annotations

import logging
from contextlib import closing

from kafka.admin import AlterConfigOp, ConfigResource, ConfigResourceType
from kafka.errors import KafkaError

from caliper.adapters.streams.kafka_access import KafkaAccess, unavailable

_LOG = logging.getLogger(__name__)
# Nobody sets it, and deleting it changes nothing.
_UNSET = "listener.name.unset.ssl.keystore.location"


def reload_certificates(access: KafkaAccess) -> None:
    """Make all brokers read their files of keys and certificates again: each does whenever its own
    settings are written. Connections stay.

    Brokers that refuse it, as those of a provider may, are logged. Blocks. Raises
    StreamUnavailable.
    """
    deletion = {_UNSET: (AlterConfigOp.DELETE, None)}
    try:
        with closing(access.admin()) as admin:
            brokers = [str(each["broker_id"]) for each in admin.describe_cluster()["brokers"]]
            written = [
                ConfigResource(ConfigResourceType.BROKER, each, deletion) for each in brokers
            ]
            answers = admin.alter_configs(written, raise_on_unknown=False)
    except KafkaError as error:
        raise unavailable("the brokers' certificates could not be read again", error) from error
    for broker, answer in answers["broker"].items():
        if answer != "OK":
            _LOG.warning("broker %s does not read its certificate again: %s", broker, answer)
