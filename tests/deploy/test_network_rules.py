"""The simulation of NetworkPolicies follows the documentation of Kubernetes, rule by rule."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.deploy.network import Network, Peer, Port
from tests.servers.kube_api import KubeApi

WEB = Peer("web", "shop", {"app": "web"}, {"http": 8080}, "10.0.0.1")
DATA = Peer("data", "shop", {"app": "data"}, {"sql": 5432}, "10.0.0.2")
OTHER = Peer("other", "else", {"app": "web"}, {"http": 9090}, "10.0.1.1")
FAR = Peer("far", address="203.0.113.7")
SQL, HTTP = Port(5432), Port(8080)
FROM_WEB = {"podSelector": {"matchLabels": {"app": "web"}}}
OF_ELSE = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "else"}}}
ANYWHERE = {"ipBlock": {"cidr": "0.0.0.0/0"}}


def network(*specs: dict[str, Any]) -> Network:
    return Network(
        {
            "kind": "NetworkPolicy",
            "metadata": {"name": str(number), "namespace": "shop"},
            "spec": spec,
        }
        for number, spec in enumerate(specs)
    )


def of_data(**spec: Any) -> dict[str, Any]:
    return {"podSelector": {"matchLabels": {"app": "data"}}, **spec}


def test_a_pod_that_nobody_chooses_is_open() -> None:
    assert network().allows(FAR, DATA, SQL)
    assert network(of_data(ingress=[])).allows(FAR, WEB, HTTP)


def test_policies_are_of_their_own_namespace() -> None:
    assert network({"podSelector": {}}).allows(WEB, OTHER, HTTP)


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        pytest.param(None, "", id="no rule"),
        pytest.param({}, "web other far", id="an empty rule"),
        pytest.param({"from": []}, "web other far", id="from nobody said"),
        pytest.param({"from": [FROM_WEB]}, "web", id="pods of the namespace"),
        pytest.param({"from": [{"podSelector": {}}]}, "web", id="all pods of the namespace"),
        pytest.param({"from": [{"namespaceSelector": {}}]}, "web other", id="all pods"),
        pytest.param({"from": [OF_ELSE]}, "other", id="a namespace"),
        pytest.param({"from": [OF_ELSE | FROM_WEB]}, "other", id="pods of a namespace"),
        pytest.param({"from": [OF_ELSE, FROM_WEB]}, "web other", id="or"),
        pytest.param(
            {"from": [OF_ELSE | {"podSelector": {"matchLabels": {"app": "x"}}}]}, "", id="and"
        ),
        pytest.param({"from": [ANYWHERE]}, "web other far", id="every address"),
        pytest.param(
            {"from": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}]},
            "far",
            id="every address but these",
        ),
        pytest.param({"ports": [{"port": 5432}]}, "web other far", id="a port"),
        pytest.param({"ports": [{"port": "sql"}]}, "web other far", id="a port by name"),
        pytest.param({"ports": [{"port": "http"}]}, "", id="a name that the pod has not"),
        pytest.param({"ports": [{"port": 5000, "endPort": 5500}]}, "web other far", id="a range"),
        pytest.param({"ports": [{"port": 5432, "protocol": "UDP"}]}, "", id="another protocol"),
        pytest.param({"ports": [{"protocol": "TCP"}]}, "web other far", id="all ports"),
        pytest.param({"from": [FROM_WEB], "ports": [{"port": 80}]}, "", id="another port"),
    ],
)
def test_ingress(rule: dict[str, Any] | None, allowed: str) -> None:
    found = network(of_data(policyTypes=["Ingress"], ingress=[] if rule is None else [rule]))
    assert [
        each.name for each in (WEB, OTHER, FAR) if found.allows(each, DATA, SQL)
    ] == allowed.split()


def test_egress_is_asked_of_the_source() -> None:
    found = network(of_data(policyTypes=["Egress"], egress=[{"to": [FROM_WEB]}]))
    assert found.allows(DATA, WEB, HTTP)
    assert not found.allows(DATA, FAR, HTTP)
    # A policy of egress says nothing about ingress.
    assert found.allows(FAR, DATA, SQL)


def test_names_of_ports_are_those_of_the_destination() -> None:
    found = network(of_data(policyTypes=["Egress"], egress=[{"ports": [{"port": "http"}]}]))
    assert found.allows(DATA, WEB, Port(8080))
    assert found.allows(DATA, OTHER, Port(9090))
    assert not found.allows(DATA, OTHER, Port(8080))


def test_policies_add_up() -> None:
    closed = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    into = of_data(ingress=[{"from": [FROM_WEB]}])
    out = {"podSelector": {"matchLabels": {"app": "web"}}, "egress": [{}]}
    assert not network(closed).allows(WEB, DATA, SQL)
    assert not network(closed, into).allows(WEB, DATA, SQL)
    assert network(closed, into, out).allows(WEB, DATA, SQL)


@pytest.mark.parametrize(
    ("spec", "types"),
    [
        ({}, ["Ingress"]),
        ({"egress": []}, ["Ingress"]),
        ({"egress": [{"to": [OF_ELSE]}]}, ["Ingress", "Egress"]),
        ({"policyTypes": [], "egress": [{"to": [OF_ELSE]}]}, ["Ingress", "Egress"]),
        ({"policyTypes": ["Egress"], "ingress": [{"from": [OF_ELSE]}]}, ["Egress"]),
    ],
)
def test_a_policy_is_of_the_types_that_kubernetes_says(
    spec: dict[str, Any], types: list[str], kube_api: KubeApi
) -> None:
    assert network(of_data(**spec)).allows(WEB, DATA, SQL) is ("Ingress" not in types)
    assert network(of_data(**spec)).allows(DATA, WEB, HTTP) is ("Egress" not in types)
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "data"},
        "spec": of_data(**spec),
    }
    kept = kube_api.kubectl(
        "create", "--dry-run=server", "--output=json", "-f", "-", given=json.dumps(policy)
    )
    assert json.loads(kept.stdout)["spec"]["policyTypes"] == types


def test_selectors_choose_by_expressions() -> None:
    known = {"key": "app", "operator": "In", "values": ["data", "web"]}
    for operator, chosen in (
        ({"key": "app", "operator": "Exists"}, True),
        ({"key": "app", "operator": "DoesNotExist"}, False),
        ({"key": "app", "operator": "NotIn", "values": ["data"]}, False),
        (known, True),
    ):
        found = network({"podSelector": {"matchExpressions": [operator]}})
        assert found.allows(WEB, DATA, SQL) is not chosen
