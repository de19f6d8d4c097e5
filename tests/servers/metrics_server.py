"""A Prometheus with its data in a folder, for tests: the shipped configuration, only faster."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import yaml
from tests.servers import fetch
from tests.servers.process import ServerProcess, free_ports, serves

SHIPPED = Path(__file__).parents[2] / "deploy" / "prometheus"
EVERY = "1s"


def lacks() -> list[str]:
    """The programs of the package that this machine lacks."""
    return [tool for tool in ("prometheus", "promtool") if shutil.which(tool) is None]


def binary() -> Path:
    """Prometheus on the path. Raises fetch.Missing."""
    if absent := lacks():
        raise fetch.Missing(f"no {' and no '.join(absent)} on this machine (package prometheus)")
    return Path(str(shutil.which("prometheus")))


def start(folder: Path) -> tuple[ServerProcess, str]:
    """A server that evaluates the shipped rules, and its URL. It scrapes nothing but what
    `scrape` tells it. Raises fetch.Missing.
    """
    fetch.declared("Prometheus")
    program = binary()
    config = yaml.safe_load((SHIPPED / "prometheus.yml").read_text("utf-8"))
    config["global"] = {"scrape_interval": EVERY, "evaluation_interval": EVERY}
    config["rule_files"] = [str(SHIPPED / pattern) for pattern in config["rule_files"]]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config), "utf-8")
    scrape(folder, [])
    (port,) = free_ports(1)
    server = ServerProcess(
        "Prometheus",
        [
            str(program),
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        folder / "prometheus.log",
        lambda: serves(port, "/-/ready"),
    )
    server.start()
    return server, f"http://127.0.0.1:{port}"


def scrape(folder: Path, addresses: Iterable[str], **labels: str) -> None:
    """Let the server in `folder` scrape these from now on, with these labels: each HOST:PORT, or
    HOST:PORT/PATH where the path is not /metrics.
    """
    split = [address.partition("/") for address in addresses]
    groups = [
        {"targets": [target], "labels": labels | ({"__metrics_path__": f"/{path}"} if path else {})}
        for target, _, path in split
    ]
    text = yaml.safe_dump(groups)
    # In one step: a half-written file would be an error in its log.
    (folder / "targets.new").write_text(text, "utf-8")
    (folder / "targets.new").rename(folder / "targets.yaml")
