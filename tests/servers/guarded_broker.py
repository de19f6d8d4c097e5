"""A Kafka broker that wants to know who calls, by every way that it knows."""

from __future__ import annotations

from pathlib import Path

from tests.servers import broker
from tests.servers.process import ServerProcess

USER, PASSWORD = "caliper-tests", "known-to-every-broker"
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_LOGIN = "org.apache.kafka.common.security"
_PROPERTIES = """\
ssl.keystore.type=PEM
ssl.keystore.location={keystore}
ssl.truststore.type=PEM
ssl.truststore.location={ca}
listener.name.ssl.ssl.client.auth=required
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
"""
# Of those who come by PLAINTEXT the broker itself is one.
AUTHORIZED = f"""\
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:{USER};User:ANONYMOUS
"""


def start(
    folder: Path,
    certificate: Path,
    key: Path,
    ca: Path,
    password: str = PASSWORD,
    more: str = "",
) -> tuple[ServerProcess, dict[str, str]]:
    """A broker and its addresses by protocol. It shows `certificate`, and of those who come by
    SSL it wants one that `ca` signed. `more` are properties, such as AUTHORIZED. Raises
    fetch.Missing.
    """
    keystore = folder / "broker.pem"
    keystore.write_text(key.read_text("ascii") + certificate.read_text("ascii"), "ascii")
    lines = [_PROPERTIES.format(keystore=keystore, ca=ca), more]
    for protocol in ("sasl_plaintext", "sasl_ssl"):
        prefix = f"listener.name.{protocol}"
        plain = f'{_LOGIN}.plain.PlainLoginModule required user_{USER}="{password}";'
        lines.append(f"{prefix}.plain.sasl.jaas.config={plain}\n")
        lines += [
            f"{prefix}.{name.lower()}.sasl.jaas.config={_LOGIN}.scram.ScramLoginModule required;\n"
            for name in _SCRAM
        ]
    users = [f"{name}=[name={USER},password={password}]" for name in _SCRAM]
    return broker.start_with(folder, PROTOCOLS, "".join(lines), users)
