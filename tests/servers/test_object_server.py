"""MinIO as tests have it begins with the users of services."""

from pathlib import Path

import pytest
from tests.fakes import store_users
from tests.servers import object_server


@pytest.mark.components("MinIO")
def test_the_users_of_services_are_there(tmp_path: Path) -> None:
    assert object_server.kit().is_dir()
    server, url = object_server.start_prepared(tmp_path)
    try:
        assert store_users.apply(url, "caliper-12345678") == []
    finally:
        server.stop()
