"""MinIO as tests have it begins with the users of services."""

from pathlib import Path

import pytest
from tests.fakes import store_users
from tests.servers import object_server
from tests.servers.access import access_to

from caliper.adapters.stores.bucket import apply_storage
from caliper.adapters.stores.users import apply_store_users


@pytest.mark.components("MinIO")
def test_the_users_of_services_are_there(tmp_path: Path) -> None:
    server, url = object_server.start_prepared(tmp_path)
    access = access_to(url, "caliper-12345678")
    try:
        apply_storage(access)
        assert apply_store_users(access, list(store_users.USERS.values())) == []
    finally:
        server.stop()
