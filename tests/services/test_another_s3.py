"""An installation whose store is an S3 that is not MinIO: the same report as without services."""

from pathlib import Path

from tests.fakes.installation import alone, installation, over
from tests.fakes.sources import EXAMPLES
from tests.servers.access import new_bucket, versity_access

from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.run import RunState
from caliper.local.config import read_config
from caliper.local.submission import send
from caliper.wiring.grounds import memory_ground


async def test_the_report_is_that_of_a_run_without_services(versity: str, tmp_path: Path) -> None:
    careful = read_config(EXAMPLES / "careful.yaml")
    async with (
        new_bucket(versity_access(versity, "host")) as store,
        installation(memory_ground(store)) as gateway,
    ):
        run = (await send(careful, gateway)).spec.run_id
        ended = await over(gateway, run)
        assert (ended.state, ended.error) == (RunState.COMPLETE, "")
        assert await gateway.report(run) == await alone(careful, WarningWatcher(), tmp_path)
