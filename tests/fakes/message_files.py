"""Messages of the topics in files, read and written by whichever release runs this.

    python -m tests.fakes.message_files FOLDER OTHER

reads the files of a folder and writes the messages it understood. An older release runs it on its
own code, so it imports only names that all releases have.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from caliper.adapters.wire.protobuf_codec import ProtobufCodec

if TYPE_CHECKING:
    from caliper.core.messages import StreamMessage

_KINDS = ("plan_job", "caption_job", "examine_job", "verdicts", "run_event")


def read(name: str, data: bytes) -> StreamMessage:
    (kind,) = (kind for kind in _KINDS if name.startswith(kind))
    message: StreamMessage = getattr(ProtobufCodec(), f"read_{kind}")(data)
    return message


def write(folder: Path, messages: Mapping[str, StreamMessage]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, message in messages.items():
        (folder / f"{name}.bin").write_bytes(ProtobufCodec().write(message))


def read_all(folder: Path) -> dict[str, StreamMessage]:
    return {file.stem: read(file.stem, file.read_bytes()) for file in sorted(folder.glob("*.bin"))}


if __name__ == "__main__":
    write(Path(sys.argv[2]), read_all(Path(sys.argv[1])))
