"""Violations of every rule, each of which has to be found."""

from __future__ import annotations

from tests.deploy.objects import COMPONENT, Object, of_kind
from tests.deploy.policies.planting import Plant, container, item, more, pod, policy, without

_ENV = {"name": "MINIO_ROOT_PASSWORD"}
_EVERYWHERE: Object = {"podSelector": {}}
_POD_SECURITY = "pod-security.kubernetes.io/enforce"
_METRICS = {"ports": [{"port": 9464}]}


def _open_ingress(objects: list[Object]) -> None:
    for each in of_kind(objects, "NetworkPolicy"):
        if each["spec"]["podSelector"] == {} and "Ingress" in each["spec"]["policyTypes"]:
            each["spec"]["ingress"] = [{}]


def _claim_grace(objects: list[Object]) -> None:
    container("judge", "env", [{"name": "CALIPER_JUDGE_GRACE", "value": "600"}])(objects)


def _strange_pod_labels(objects: list[Object]) -> None:
    item("Deployment", "judge", f"spec template metadata labels {COMPONENT}", "jury")(objects)


def _mount_key(objects: list[Object]) -> None:
    pod("tgi-judge", "volumes +", _MODELS)(objects)
    container("tgi-judge", "volumeMounts +", _MODELS_MOUNTED)(objects)


_SECRET = {"secretKeyRef": {"name": "caliper-minio", "key": "secret-key"}}
_TOKEN = {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}
_KEY = {"data": {"tls.key": "-----BEGIN EC PRIVATE KEY-----\nMHcCAQ=="}}
_EVERY_SECRET = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}
_SCALED = {"spec": {"scaleTargetRef": {"name": "aggregator"}}}
_FROM_NODE = {"name": "node", "hostPath": {"path": "/var/log"}}
_OTHERS = [{"maxSkew": 1, "labelSelector": {"matchLabels": {COMPONENT: "kafka"}}}]
_BROKER = {COMPONENT: "broker"}
_DIGEST = "sha256:" + "0a" * 32
_MODELS = {"name": "key", "secret": {"secretName": "caliper-models"}}
_REPLIES = {"name": "key", "secret": {"secretName": "caliper-replies"}}
_SENDERS = {"name": "others", "secret": {"secretName": "caliper-senders"}}
_MODELS_MOUNTED = {"name": "key", "mountPath": "/run/caliper/key"}

PLANTS = (
    Plant(
        "namespace_is_restricted",
        item("Namespace", "", f"metadata labels {_POD_SECURITY}", "baseline"),
        "lets in pods",
    ),
    Plant(
        "namespace_is_restricted",
        item("Namespace", "", f"metadata labels {_POD_SECURITY}-version", None),
        "version",
    ),
    Plant(
        "namespace_is_restricted",
        item("Deployment", "judge", "metadata namespace", "default"),
        "Deployment/judge is not in the namespace",
    ),
    Plant(
        "no_custom_resources",
        more("monitoring.coreos.com/v1", "ServiceMonitor", "judge"),
        "ServiceMonitor/judge",
    ),
    Plant("labels", _strange_pod_labels, "no component is called jury"),
    Plant(
        "labels",
        item("Service", "judge", "metadata labels app.kubernetes.io/part-of", None),
        "Service/judge",
    ),
    Plant(
        "labels",
        item("Deployment", "judge", "spec selector matchLabels", {"app": "judge"}),
        "by name and component",
    ),
    Plant(
        "services_reach_pods",
        item("Service", "judge", "spec ports 0 targetPort", "grcp"),
        "has no port grcp",
    ),
    Plant("services_reach_pods", item("Service", "judge", "spec type", "NodePort"), "open to"),
    Plant(
        "services_reach_pods",
        item("Service", "judge", f"spec selector {COMPONENT}", "jury"),
        "leads to 0 workloads",
    ),
    Plant("config_is_hashed", item("ConfigMap", "judge", "metadata name", "judge"), "judge can"),
    Plant(
        "configs_exist",
        pod("judge", "volumes +", {"name": "x", "configMap": {"name": "judge-old"}}),
        "ConfigMap/judge-old",
    ),
    Plant("configs_exist", pod("judge", "serviceAccountName", "judge"), "is not there"),
    Plant(
        "tokens_for_accounts_only", pod("judge", "automountServiceAccountToken", None), "judge has"
    ),
    Plant("tokens_for_accounts_only", pod("judge", "volumes +", _TOKEN), "judge has"),
    Plant("tokens_for_accounts_only", pod("judge", "serviceAccountName", "bootstrap"), "runs as"),
    Plant(
        "tokens_for_accounts_only",
        item("ServiceAccount", "bootstrap", "automountServiceAccountToken", True),
        "gives its token",
    ),
    Plant("accounts_may_little", item("Role", "bootstrap", "rules +", _EVERY_SECRET), "list"),
    Plant("accounts_may_little", item("Role", "bootstrap", "rules 0 verbs", ["*"]), "*"),
    Plant(
        "accounts_may_little",
        item("RoleBinding", "bootstrap", "subjects +", {"kind": "Group", "name": "all"}),
        "others than bootstrap",
    ),
    Plant(
        "accounts_may_little",
        more("rbac.authorization.k8s.io/v1", "ClusterRole", "all"),
        "whole cluster",
    ),
    Plant("no_secrets", more("v1", "Secret", "caliper-minio"), "Secret/caliper-minio"),
    Plant("no_secret_values", container("minio", "env", [_ENV | {"value": "x"}]), "is given"),
    Plant("no_secret_values", more("v1", "ConfigMap", "tls", **_KEY), "ConfigMap/tls"),
    Plant(
        "no_secrets_in_environments",
        container("minio", "env", [_ENV | {"valueFrom": _SECRET}]),
        "StatefulSet/minio",
    ),
    Plant(
        "no_secrets_in_environments",
        container("minio", "envFrom", [{"secretRef": {"name": "caliper-minio"}}]),
        "StatefulSet/minio",
    ),
    Plant(
        "no_secrets_in_commands",
        container("tgi-judge", "command", ["sh", "-c", 'KEY="$(cat /run/caliper/key/token)" run']),
        "tells a secret",
    ),
    Plant(
        "no_secrets_in_commands",
        container("tgi-judge", "command", ["sh", "-c", "run --key `head -1 /run/caliper/x/y`"]),
        "tells a secret",
    ),
    Plant("no_secrets_in_commands", container("kafka", "args", ["--password=x"]), "tells a secret"),
    Plant("no_secrets_in_commands", container("kafka", "args", ["--api-key", "x"]), "tells a"),
    Plant("no_secrets_in_commands", container("kafka", "args", ["--x", "API_KEY=x"]), "tells a"),
    Plant("key_of_models_for_callers", pod("captioner", "volumes +", _MODELS), "captioner holds"),
    Plant("key_of_models_for_callers", _mount_key, "tgi-judge model holds"),
    Plant("key_of_replies_for_services", pod("grafana", "volumes +", _REPLIES), "grafana"),
    Plant("key_of_replies_for_services", pod("judge", "volumes", []), "judge"),
    Plant(
        "keys_of_senders_for_their_services", pod("captioner", "volumes +", _SENDERS), "captioner"
    ),
    Plant("requests_and_limits", container("judge", "resources limits cpu", None), "limits.cpu"),
    Plant(
        "requests_and_limits",
        pod("judge", "initContainers", [{"name": "wait", "image": "caliper:1"}]),
        "judge wait has no requests.memory",
    ),
    Plant(
        "disk_is_requested",
        container("captioner", "resources requests ephemeral-storage", "5Gi"),
        "captioner may write 6144 MiB and asks for 5120",
    ),
    Plant("numeric_users", container("kafka", "securityContext runAsUser", 0), "runAsUser"),
    Plant("numeric_users", container("kafka", "securityContext runAsUser", "kafka"), "runAsUser"),
    Plant("non_root", container("kafka", "securityContext runAsNonRoot", False), "as root"),
    Plant(
        "seccomp",
        container("grafana", "securityContext seccompProfile", {"type": "Unconfined"}),
        "grafana",
    ),
    Plant(
        "read_only_root",
        container("minio", "securityContext readOnlyRootFilesystem", None),
        "minio",
    ),
    Plant("no_capabilities", container("kafka", "securityContext capabilities drop", []), "kafka"),
    Plant(
        "no_capabilities",
        container("kafka", "securityContext capabilities add", ["NET_BIND_SERVICE"]),
        "kafka",
    ),
    Plant(
        "no_escalation",
        container("triton", "securityContext allowPrivilegeEscalation", None),
        "can",
    ),
    Plant("no_escalation", container("triton", "securityContext privileged", True), "can gain"),
    Plant("isolated_from_the_node", pod("prometheus", "hostNetwork", True), "sets hostNetwork"),
    Plant("isolated_from_the_node", pod("prometheus", "volumes +", _FROM_NODE), "mounts node"),
    Plant("isolated_from_the_node", container("gateway", "ports 0 hostPort", 50051), "port 50051"),
    Plant("isolated_from_the_node", container("minio", "ports 0 containerPort", 443), "privileged"),
    Plant(
        "writes_are_bounded",
        pod("judge", "volumes +", {"name": "free", "emptyDir": {}}),
        "through free",
    ),
    Plant(
        "writes_are_bounded",
        container("judge", "volumeMounts +", {"name": "lost", "mountPath": "/lost"}),
        "mounts lost",
    ),
    Plant("no_service_links", pod("kafka", "enableServiceLinks", None), "kafka"),
    Plant("pinned_images", container("minio", "image", "quay.io/minio/minio:latest"), "no exact"),
    Plant("pinned_images", container("minio", "image", "localhost:5000/minio"), "no exact"),
    Plant("pinned_images", container("judge", "image", "caliper:0.0.1"), "not this version"),
    Plant("pinned_images", container("judge", "image", f"caliper:0.0.1@{_DIGEST}"), "not this ver"),
    Plant("pinned_images", container("minio", "image", f"minio:latest@{_DIGEST}"), "no exact"),
    Plant("pinned_images", container("minio", "image", "minio:1.2.3@sha256:ab"), "no whole digest"),
    Plant("pinned_images", container("judge", "imagePullPolicy", "Always"), "asks a registry"),
    Plant("probes", container("kafka", "livenessProbe", None), "kafka has no livenessProbe"),
    Plant("probes", container("judge", "livenessProbe grpc service", None), "livenessProbe asks"),
    Plant("probes", container("judge", "readinessProbe grpc service", "live"), "asks for 'live'"),
    Plant("probes", container("judge", "readinessProbe grpc port", 50051), "at port 50052"),
    Plant("ends_after_draining", pod("judge", "terminationGracePeriodSeconds", 60), "needs 125"),
    Plant("ends_after_draining", pod("kafka", "terminationGracePeriodSeconds", None), "has None s"),
    Plant("ends_after_draining", _claim_grace, "needs 1205"),
    Plant("disruption_budgets", without("PodDisruptionBudget", "kafka"), "kafka has 0"),
    Plant(
        "disruption_budgets",
        item("PodDisruptionBudget", "judge", "spec", {"selector": {}, "maxUnavailable": 1}),
        "has 2 disruption budgets",
    ),
    Plant(
        "disruption_budgets",
        item("PodDisruptionBudget", "judge", "spec maxUnavailable", 0),
        "from being emptied",
    ),
    Plant(
        "disruption_budgets",
        item("PodDisruptionBudget", "kafka", "spec selector matchLabels", _BROKER),
        "protects nothing",
    ),
    Plant(
        "rollouts_wait_for_weights",
        item("Deployment", "judge", "spec progressDeadlineSeconds", None),
        "Deployment/judge is given up after 600 s",
    ),
    Plant(
        "rollouts_wait_for_weights",
        item("Deployment", "triton", "spec progressDeadlineSeconds", 1200),
        "after 1200 s",
    ),
    Plant("topology_spread", pod("judge", "topologySpreadConstraints", None), "on one node"),
    Plant("topology_spread", pod("judge", "topologySpreadConstraints", _OTHERS), "other pods"),
    Plant(
        "brokers_apart",
        pod("kafka", "topologySpreadConstraints 0 whenUnsatisfiable", "ScheduleAnyway"),
        "on one node",
    ),
    Plant("brokers_apart", pod("kafka", "topologySpreadConstraints 0 minDomains", 2), "on one"),
    # What the README once told those who have one GPU node.
    Plant(
        "mounts_meet",
        item("PersistentVolumeClaim", "", "spec accessModes", ["ReadWriteOnce"]),
        "Job/model-download cannot follow",
    ),
    Plant(
        "mounts_meet",
        item("PersistentVolumeClaim", "", "spec accessModes", ["ReadWriteOnce"]),
        "Deployment/triton may mount models on another node",
    ),
    Plant("one_aggregator", item("Deployment", "aggregator", "spec replicas", 2), "can be two"),
    Plant("one_aggregator", item("Deployment", "aggregator", "spec strategy", None), "can be two"),
    Plant("one_aggregator", without("Deployment", "aggregator"), "there are 0"),
    Plant("one_aggregator", more("keda.sh/v1alpha1", "ScaledObject", "a", **_SCALED), "scales the"),
    Plant(
        "jobs_leave", item("Job", "topics", "spec ttlSecondsAfterFinished", None), "topics stays"
    ),
    Plant("jobs_leave", item("Job", "topics", "spec backoffLimit", None), "how often"),
    Plant("jobs_leave", pod("storage", "restartPolicy", "Always"), "restartPolicy of a Job"),
    Plant("default_deny", _open_ingress, "Ingress is open"),
    Plant("policies_say_whom_and_where", more(**policy(ingress=[_METRICS])), "lets everybody in"),
    Plant(
        "policies_say_whom_and_where",
        more(**policy(ingress=[{"from": [_EVERYWHERE]}])),
        "opens every port",
    ),
    Plant(
        "policies_choose_somebody",
        more(**policy(podSelector={"matchLabels": {COMPONENT: "jury"}})),
        "chooses no pod",
    ),
    Plant(
        "metrics_for_prometheus_only",
        more(**policy(ingress=[{"from": [{"namespaceSelector": {}}], **_METRICS}])),
        "metrics can be read by a pod of another namespace",
    ),
)
