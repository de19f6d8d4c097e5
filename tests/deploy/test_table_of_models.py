"""The table of models and GPUs in deploy/k8s/README.md is what `caliper size` says."""

from tests.deploy.model_table import TABLE, table
from tests.deploy.rendering import MANIFESTS


def test_the_table_is_what_the_command_says() -> None:
    (found,) = TABLE.findall((MANIFESTS / "README.md").read_text("utf-8"))
    assert found == table(), "write it anew: python -m tests.deploy.model_table"
