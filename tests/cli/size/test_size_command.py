import json
import struct
from pathlib import Path

import pytest
from tests.fakes.command import Command
from tests.fakes.hub_server import COMMIT, HubRepository, HubServer
from tests.fakes.published_models import BYTES, CONFIGS
from tests.fakes.safetensors import FILES, SIZES

JUDGE = "Qwen/Qwen2.5-72B-Instruct"


def test_a_table_of_gpus_from_a_configuration_alone(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIGS[JUDGE]), "utf-8")
    run = Command(tmp_path)
    told = run("size", "config.json", "--json", code=0).told
    assert told["weights_bytes"] == told["weights_bytes_by_type"]["BF16"] == BYTES[JUDGE]
    assert (told["kv_bytes_per_token"], told["context"]) == (327_680, 16_384)
    found = {each["gpu"]: each["calls_by_tensor_parallel"] for each in told["gpus"]}
    assert (found["H100"]["4"], found["H200"]["2"]) == (28, 22)
    text = run("size", "config.json", "--gpu", "h100", "--gpu", "24", code=0).out
    assert "145.4 GB BF16" in text
    assert "320 KiB per token, 5.00 GiB per call of 16,384 tokens" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["H100", "79.6", "GiB", "-", "-", "28", "84"] in rows
    assert ["24", "GiB", "24.0", "GiB", "-", "-", "-", "4"] in rows


def test_where_nothing_holds_it_the_answer_is_no(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIGS[JUDGE]), "utf-8")
    Command(tmp_path)("size", "config.json", "--gpu", "8", code=1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("config.json", "--context", 32_769), "context ends at 32,768"),
        (("config.json", "--gpu", "H9000"), "H100"),
        (("nowhere.json",), "expected owner/name"),
        (("empty",), "config.json"),
        (("list.json",), "not a JSON object"),
        (("broken",), "no header of safetensors"),
    ],
)
def test_bad_input(tmp_path: Path, arguments: tuple[object, ...], said: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIGS[JUDGE]), "utf-8")
    (tmp_path / "list.json").write_text("[]", "utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_bytes(FILES["config.json"])
    (tmp_path / "broken" / "model.safetensors").write_bytes(struct.pack("<Q", 2**60) + b"{}")
    assert said in Command(tmp_path)("size", *arguments, code=2).err


def test_a_folder_of_an_unknown_family_is_sized_by_its_headers(tmp_path: Path) -> None:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    told = Command(tmp_path)("size", ".", "--json", code=0).told
    assert told["weights_bytes_by_type"] == SIZES
    assert told["kv_bytes_per_token"] == 2 * 2 * 2 * 16 * 2


def test_without_a_network_no_repository_is_sized(tmp_path: Path) -> None:
    run = Command(tmp_path, {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")})
    assert "cannot be reached" in run("size", "owner/name", code=4).err


def test_a_repository_is_sized_without_its_weights(tmp_path: Path) -> None:
    with HubServer({"owner/name": HubRepository(FILES)}) as hub:
        run = Command(tmp_path, {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")})
        told = run("size", "owner/name", "--json", code=0).told
    assert told["model"] == f"owner/name@{COMMIT}"
    assert told["weights_bytes_by_type"] == SIZES
