"""What a cluster wants of pods is said of every one, those that a CronJob makes too."""

from tests.deploy.objects import pods
from tests.deploy.rendering import Rendering, rendered


def test_with_a_pull_secret_every_pod_names_it() -> None:
    for pod in pods(rendered(Rendering("base", ("pull-secret",)))):
        assert pod.spec.get("imagePullSecrets") == [{"name": "registry"}], pod.name


def test_on_openshift_no_pod_chooses_its_user() -> None:
    fixed = {"runAsUser", "runAsGroup", "fsGroup"}
    for pod in pods(rendered(Rendering("base", ("openshift",)))):
        assert not fixed & set(pod.spec["securityContext"]), pod.name
