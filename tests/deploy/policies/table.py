"""The rules that every rendering obeys. Each is a pure function: of objects, what breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tests.deploy.objects import Object
from tests.deploy.policies import availability, cluster, containers, metrics, network, secrets


@dataclass(frozen=True)
class Rule:
    """`unless`: components whose very purpose it is to be outside of the rule."""

    says: str
    check: Callable[[Sequence[Object]], Iterator[str]]
    unless: frozenset[str] = field(default=frozenset())

    @property
    def name(self) -> str:
        return self.check.__name__


RULES = (
    Rule(
        "The namespace admits restricted pods only, and holds all.", cluster.namespace_is_restricted
    ),
    Rule(
        "A cluster needs no custom resource definitions.",
        cluster.no_custom_resources,
        frozenset({"keda", "keda-gpus", "prometheus-operator"}),
    ),
    Rule("Objects, pods and selectors are labelled alike.", cluster.labels),
    Rule(
        "A Service leads to the ports of one workload, in the cluster.", cluster.services_reach_pods
    ),
    Rule("A change of configuration replaces the pods.", cluster.config_is_hashed),
    Rule("What a pod refers to is there.", cluster.configs_exist),
    Rule("Only pods with an account of their own have a token.", cluster.tokens_for_accounts_only),
    Rule(
        "Bootstrap may make Secrets, and read its own; suites pods, elsewhere.",
        cluster.accounts_may_little,
    ),
    Rule("No Secret is in the manifests.", secrets.no_secrets),
    Rule("No secret is a value in the manifests.", secrets.no_secret_values),
    Rule("Secrets are files, never variables.", secrets.no_secrets_in_environments),
    Rule("No secret is a word of a command.", secrets.no_secrets_in_commands),
    Rule("The models' key is for callers and proxies.", secrets.key_of_models_for_callers),
    Rule("The replies' key is for who asks or shows.", secrets.key_of_replies_for_services),
    Rule("A sender's key is its own.", secrets.keys_of_senders_for_their_services),
    Rule("Every container has requests and limits.", containers.requests_and_limits),
    Rule("A node's disk is asked for.", containers.disk_is_requested),
    Rule("Nobody is root.", containers.non_root),
    Rule(
        "Users are numbers, which a kubelet can tell from root's.",
        containers.numeric_users,
        # It gives pods the numbers of their namespace.
        frozenset({"openshift"}),
    ),
    Rule("System calls are filtered.", containers.seccomp),
    Rule("Root file systems are read-only.", containers.read_only_root),
    Rule("Capabilities are dropped.", containers.no_capabilities),
    Rule("No process gains privileges.", containers.no_escalation),
    Rule("No pod shares anything with its node.", containers.isolated_from_the_node),
    Rule("What can be written has a bound.", containers.writes_are_bounded),
    Rule("Services do not become variables.", containers.no_service_links),
    Rule("Images are pinned, ours to this version.", containers.pinned_images),
    Rule("Every lasting container is probed; ours at the health port.", availability.probes),
    Rule("A pod has longer to end than it drains.", availability.ends_after_draining),
    Rule("Disruptions are bounded, and no drain waits for ever.", availability.disruption_budgets),
    Rule("A first rollout waits for weights.", availability.rollouts_wait_for_weights),
    Rule("Replicas are spread.", availability.topology_spread),
    Rule("No two brokers share a node.", availability.brokers_apart),
    Rule("What mounts one volume can meet on one node.", availability.mounts_meet),
    Rule("There is one aggregator, at any time.", availability.one_aggregator),
    Rule("Jobs leave when they are done.", availability.jobs_leave),
    Rule("What no policy names is closed.", network.default_deny),
    Rule("A policy names whom it lets where.", network.policies_say_whom_and_where),
    Rule(
        "Every policy is about a pod.",
        network.policies_choose_somebody,
        # Its brokers may be somebody else's, and pods of checkpoints come and go.
        frozenset({"keda", "checkpoint-pods"}),
    ),
    Rule("Metrics are read by Prometheus alone.", metrics.metrics_for_prometheus_only),
)
