import hashlib
import os
from pathlib import Path

import pytest
from tests.fakes.loopback_server import TOKENS, token_file, token_lines

from caliper.core.errors import InvalidInput
from caliper.serving.tokens import Caller, Role, TokenFile

DIGEST = hashlib.sha256(b"secret").hexdigest()


def written(folder: Path, text: str) -> Path:
    file = folder / "tokens"
    file.write_text(text, encoding="utf-8")
    return file


def replaced(file: Path, text: str) -> None:
    """As mounted secrets change: another file takes the name."""
    new = file.with_name("new")
    new.write_text(text, encoding="utf-8")
    new.replace(file)


def test_roles_include_those_before_them() -> None:
    may = [(role, needed) for role in Role for needed in Role if role.includes(needed)]
    read, evaluate, admin = Role
    assert may == [
        (read, read),
        (evaluate, read), (evaluate, evaluate),
        (admin, read), (admin, evaluate), (admin, admin),
    ]  # fmt: skip


@pytest.mark.parametrize("role", list(Role))
def test_whose_token_it_is(tmp_path: Path, role: Role) -> None:
    tokens = TokenFile(token_file(tmp_path))
    assert tokens.caller(TOKENS[role]) == Caller(f"a-{role}", role)


@pytest.mark.parametrize("token", ["", "token", DIGEST, TOKENS["read"] + " ", "é", "\ud800"])
def test_what_is_nobodys(tmp_path: Path, token: str) -> None:
    assert TokenFile(token_file(tmp_path)).caller(token) is None


def test_two_tokens_of_one_name(tmp_path: Path) -> None:
    other = hashlib.sha256(b"next").hexdigest()
    tokens = TokenFile(written(tmp_path, f"team read {DIGEST}\nteam evaluate {other}\n"))
    assert tokens.caller("secret") == Caller("team", Role.READ)
    assert tokens.caller("next") == Caller("team", Role.EVALUATE)


def test_a_caller_is_of_the_team_in_its_line(tmp_path: Path) -> None:
    tokens = TokenFile(written(tmp_path, f"ours evaluate {DIGEST} vision-2\n"))
    assert tokens.caller("secret") == Caller("ours", Role.EVALUATE, "vision-2")
    tokens = TokenFile(written(tmp_path, f"ours evaluate {DIGEST}\n"))
    assert tokens.caller("secret") == Caller("ours", Role.EVALUATE, "default")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "tokens: the file holds no tokens"),
        ("# nobody\n", "tokens: the file holds no tokens"),
        (f"team read\nx admin {DIGEST}", "tokens:1: expected name, role and"),
        (f"# x\nus read {DIGEST} team more", "tokens:2: expected name, role and"),
        (f"us read {DIGEST} te/am", "tokens:1: team: a team is 1 to 64"),
        (f"te/am read {DIGEST}", "tokens:1: name: a name is 1 to 64"),
        (f"team root {DIGEST}", "tokens:1: role: a role is read, evaluate, admin"),
        (f"team read {DIGEST[:-1]}", "tokens:1: sha256: not a SHA-256"),
        (f"team read {DIGEST.upper()}", "tokens:1: sha256: not a SHA-256"),
        ("team read secret", "tokens:1: sha256: not a SHA-256"),
        (f"team read {DIGEST}\nus admin {DIGEST}", "tokens:2: the same token as above"),
    ],
)
def test_a_file_that_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        TokenFile(written(tmp_path, text))
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot read the tokens"):
        TokenFile(tmp_path / "none")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = token_file(tmp_path)
    tokens = TokenFile(file)
    assert tokens.caller("secret") is None
    replaced(file, f"team read {DIGEST}\n")
    assert tokens.caller("secret") == Caller("team", Role.READ)
    assert tokens.caller(TOKENS["admin"]) is None


@pytest.mark.parametrize("broken", ["", "half of a li", None])
def test_a_change_that_cannot_be_used_leaves_the_old_tokens(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, broken: str | None
) -> None:
    file = token_file(tmp_path)
    tokens = TokenFile(file)
    if broken is None:
        file.unlink()
    else:
        replaced(file, broken)
    for _ in range(3):
        assert tokens.caller(TOKENS["read"]) is not None
    assert caplog.text.count("the old tokens stay") == 1
    replaced(file, token_lines({"read": "secret"}))
    assert tokens.caller("secret") is not None
    assert tokens.caller(TOKENS["read"]) is None


def test_a_mounted_secret_that_changed_is_read_again(tmp_path: Path) -> None:
    """Kubernetes puts another folder in the place of the one that files are links into."""
    for name, token in (("first", "old"), ("second", "new")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tokens").write_text(token_lines({"read": token}), "utf-8")
        # Written at the same moment, as far as the clock tells.
        os.utime(tmp_path / name / "tokens", (0, 0))
    (tmp_path / "..data").symlink_to("first")
    (tmp_path / "tokens").symlink_to("..data/tokens")
    tokens = TokenFile(tmp_path / "tokens")
    assert tokens.caller("old") is not None
    (tmp_path / "..data_tmp").symlink_to("second")
    (tmp_path / "..data_tmp").rename(tmp_path / "..data")
    assert (tokens.caller("old"), tokens.caller("new")) == (None, Caller("a-read", Role.READ))
