"""Topics and buckets, applied to real servers."""

import json
import uuid
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.deploy.bootstrap_secrets import make_secrets
from tests.fakes.command import Command
from tests.servers.process import free_ports

from caliper.adapters.cluster.grants import STORE_GRANTS
from caliper.adapters.stores.bucket import EXPIRE

NOTHING = "Nothing to change."


def storing(folder: Path, url: str, bucket: str) -> tuple[Command, str]:
    """The command with a file for the secret, and the endpoint."""
    parts = urlsplit(url)
    secret = folder / "secret"
    secret.write_text(f"{parts.password}\n", "utf-8")
    environment = {
        "CALIPER_STORE_BUCKET": bucket,
        "CALIPER_STORE_ACCESS_KEY": parts.username or "",
        "CALIPER_STORE_SECRET_KEY_FILE": str(secret),
    }
    return Command(folder, environment), f"{parts.scheme}://{parts.hostname}:{parts.port}"


def test_a_bucket_is_made_once(tmp_path: Path, minio: str) -> None:
    bucket = f"caliper-{uuid.uuid4().hex[:8]}"
    caliper, endpoint = storing(tmp_path, minio, bucket)
    apply = ("storage", "apply", "--store", endpoint)
    ended = caliper(*apply, "--json", code=0)
    made = ended.told["changes"]
    assert made[0] == f"created bucket {bucket}"
    assert len(made) == 1 + len(EXPIRE)
    line = json.loads(ended.err)
    assert (line["method"], line["outcome"]) == ("caliper storage apply", "OK")
    assert line["object"] == "; ".join(made)
    again = caliper(*apply, code=0)
    assert (again.out.strip(), again.err) == (NOTHING, "")


def test_only_users_that_were_replaced_are_removed(tmp_path: Path, minio: str) -> None:
    caliper, endpoint = storing(tmp_path, minio, f"caliper-{uuid.uuid4().hex[:8]}")
    make_secrets(tmp_path / "made")
    apply = ("storage", "apply", "--store", endpoint, "--json")
    users = ("--users", "made", "--remove")
    key = tmp_path / "made" / "caliper-store-judge" / "access-key"
    judge = key.read_text("ascii")
    assert f"{judge} is still a user of --users" in caliper(*apply, *users, judge, code=2).err
    assert "needs --users" in caliper(*apply, "--remove", judge, code=2).err
    caliper(*apply, *users, "", code=0)
    key.write_text(f"{judge}-2", "ascii")
    made = caliper(*apply, *users, judge, code=0).told["changes"]
    assert made == [
        f"wrote policy {judge}-2",
        f"created user {judge}-2",
        f"removed user {judge}",
        f"removed policy {judge}",
    ]


def test_what_is_no_address_is_bad_input_and_nobody_there_trouble(
    tmp_path: Path, caliper: Command
) -> None:
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    assert "host:port" in caliper("topics", "apply", "--kafka", "here", code=2).err
    line, said = caliper("topics", "apply", "--kafka", nobody, code=4).err.split("\n", 1)
    assert nobody in said
    audit = json.loads(line)
    assert (audit["method"], audit["object"]) == ("caliper topics apply", nobody)
    assert audit["outcome"] == "UNAVAILABLE"
    storing_there, _ = storing(tmp_path, "http://me:secret@here:1", "any")
    assert "endpoint" in storing_there("storage", "apply", "--store", "folder", code=2).err
    refused = storing_there("storage", "apply", "--store", f"http://{nobody}", code=4)
    assert "secret" not in refused.err


def test_a_wrong_store_names_what_gave_it(tmp_path: Path) -> None:
    apply = ("storage", "apply", "--store")
    caliper, _ = storing(tmp_path, "http://me:secret@here:1", "any")
    said = caliper(*apply, "ftp://me:hidden@there", code=2).err
    assert "--store: not the endpoint" in said
    assert "hidden" not in said
    caliper, endpoint = storing(tmp_path, "http://me:secret@here:1", "NOT_ok")
    said = caliper(*apply, endpoint, code=2).err
    assert "CALIPER_STORE_BUCKET: 'NOT_ok' cannot name a bucket" in said


@pytest.mark.parametrize("missing", ["CALIPER_STORE_ACCESS_KEY", "CALIPER_STORE_SECRET_KEY"])
def test_a_key_that_is_missing_is_named(caliper: Command, missing: str) -> None:
    keys = {"CALIPER_STORE_ACCESS_KEY": "a", "CALIPER_STORE_SECRET_KEY": "b"}
    del keys[missing]
    command = Command(caliper.folder, keys)
    ended = command("storage", "apply", "--store", "http://127.0.0.1:9", code=2)
    assert missing in ended.err


def test_policies_are_printed_for_stores_where_users_are_made_by_hand(caliper: Command) -> None:
    command = Command(caliper.folder, {"CALIPER_STORE_BUCKET": "ours"})
    told = command("storage", "policies", "--checkpoints", "models/step-", code=0).told
    assert set(told) == set(STORE_GRANTS)
    actions = {
        action
        for policy in told.values()
        for statement in policy["Statement"]
        for action in statement["Action"]
    }
    # Those that Amazon's IAM knows; a MinIO is told of its own besides.
    assert {action.partition(":")[0] for action in actions} == {"s3"}
    suites = str(told["suites"])
    assert "arn:aws:s3:::models/step-*" in suites
    assert "arn:aws:s3:::ours/suites/*" in suites
    assert "arn:aws:s3:::ours/suites/*" not in str(told["judge"])
    assert "Condition" not in str(told)
