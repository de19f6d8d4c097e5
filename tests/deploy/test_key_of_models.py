"""The proxy before a model server knows the key from its file alone, and asks for it wherever the
server can be asked for something.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "deploy" / "k8s" / "base" / "tgi"
CONFIG = (FOLDER / "nginx.conf").read_text("utf-8")
KEY = "0a" * 32


def _start(folder: Path, key: str, does: str = "") -> tuple[str, Path]:
    """What is said while the proxy runs, with the words and variables that nginx got, and the
    file that it reads. `does` are commands for what nginx does.
    """
    program = folder / "bin" / "nginx"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "words: $*"\nenv\n{does}\n', "ascii")
    program.chmod(0o755)
    (folder / "token").write_text(key, "ascii")
    (folder / "tls.crt").write_text("old", "ascii")
    told = {
        "KEY": str(folder / "token"),
        "KEYS": str(folder),
        "CONFIG": str(FOLDER),
        "TLS": str(folder / "tls.crt"),
        "EVERY": "0.05",
        "PATH": f"{program.parent}:/usr/bin:/bin",
    }
    ended = subprocess.run(
        ["sh", "-x", str(FOLDER / "start.sh")],
        env=told,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return ended.stdout, folder / "known"


@pytest.mark.parametrize(
    ("key", "known"),
    [
        (KEY, [f'"Bearer {KEY}" 0;']),
        (f"{KEY}\n", [f'"Bearer {KEY}" 0;']),
        # While one takes the place of another.
        (f"{KEY}\n\nnext\n", [f'"Bearer {KEY}" 0;', '"Bearer next" 0;']),
        ('a"b\\c', ['"Bearer a\\"b\\\\c" 0;']),
        # Nobody is let in by a key that is not there.
        ("", []),
        ("\n", []),
    ],
)
def test_keys_are_written_as_nginx_reads_them(tmp_path: Path, key: str, known: list[str]) -> None:
    _, file = _start(tmp_path, key)
    assert file.read_text("ascii").splitlines() == known


def test_the_key_stands_in_its_file_alone(tmp_path: Path) -> None:
    said, file = _start(tmp_path, KEY)
    assert f"words: -e stderr -c {FOLDER}/nginx.conf" in said
    assert KEY not in said
    assert file.stat().st_mode & 0o077 == 0


def test_a_renewed_certificate_is_read(tmp_path: Path) -> None:
    told = tmp_path / "told"
    does = f"""case $* in
  *reload) echo "$*" > {told} ;;
  *) n=0; until [ -s {told} ]; do n=$((n + 1)); echo $n > {tmp_path}/tls.crt; sleep 0.01; done ;;
esac"""
    _start(tmp_path, KEY, does)
    assert told.read_text("ascii") == f"-e stderr -c {FOLDER}/nginx.conf -s reload\n"


def _locations() -> dict[str, str]:
    found = re.findall(r"^    location (.+?) \{\n(.*?)^    \}$", CONFIG, re.MULTILINE | re.DOTALL)
    return dict(found)


def test_a_call_without_the_key_ends_at_the_proxy() -> None:
    """How nginx reads it was tried with nginx itself, which these tests do not have."""
    passed = {where for where, what in _locations().items() if "proxy_pass" in what}
    asked = {
        where
        for where, what in _locations().items()
        if re.match(r"\s*if \(\$refused\) \{\s*return 401;\s*\}\s*proxy_pass http://model;", what)
    }
    assert (passed - asked, asked) == ({"= /health", "= /metrics"}, {"= /info", "/v1/"})
    (checked,) = re.findall(
        r"map \$http_authorization \$refused \{\n(.*?)\n  \}", CONFIG, re.DOTALL
    )
    assert [line.strip() for line in checked.splitlines()] == [
        "default 1;",
        "include /tmp/keys/known;",
    ]


def test_the_server_is_shown_no_key() -> None:
    assert 'proxy_set_header Authorization "";' in CONFIG
    # Headers of a location would take the place of these.
    assert not [where for where, what in _locations().items() if "proxy_set_header" in what]
