"""What the manifests run in our image, beside what it runs by itself, is there."""

from __future__ import annotations

import pytest
from tests.deploy.objects import is_ours, pods
from tests.deploy.rendering import BASE, rendered
from tests.servers import containers


@pytest.mark.components("Containers")
def test_commands_of_the_manifests_are_in_the_image(image: str) -> None:
    modules = {
        tuple(container["command"])
        for pod in pods(rendered(BASE))
        for container in pod.containers
        if is_ours(container) and container.get("command", [""])[1:2] == ["-m"]
    }
    assert modules
    for program, *words in modules:
        options = ("--entrypoint", program)
        ended = containers.run(image, *words, "--help", options=options)
        assert ended.returncode == 0, ended.stderr
