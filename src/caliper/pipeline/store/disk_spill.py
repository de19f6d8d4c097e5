"""Collections that spill to disk: texts and items, each in a temporary SQLite file.

The file is created without a name in the folder for temporary files, and disappears with the
object that owns it.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import ItemsView, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from caliper.core.caption import CutShort
from caliper.core.errors import StoreFull
from caliper.core.keys import canonical_json
from caliper.core.question import Item
from caliper.pipeline.store.items import encode_item

# The file is useless after a crash, so durability would only cost time.
_FAST = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# SQLite reports a quota and a file size limit as failed writes.
_NOT_WRITTEN = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE})


@contextmanager
def temporary_files() -> Iterator[None]:
    """Raise StoreFull in the context when the disk for temporary files is full, so that the work
    waits as for a full store.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode not in _NOT_WRITTEN:
            raise
        raise StoreFull(f"no room for temporary files: {error}") from error
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise StoreFull(f"no room for temporary files: {error.strerror}") from error


@contextmanager
def temporary_folder(prefix: str = "caliper-") -> Iterator[Path]:
    """A temporary folder for the context, within `temporary_files`."""
    try:
        # At its first use in a process, Python looks for a folder that it can write to.
        place = gettempdir()
    except FileNotFoundError as error:
        raise StoreFull(f"no room for temporary files: {error.strerror}") from error
    with temporary_files(), TemporaryDirectory(prefix=prefix, dir=place) as folder:
        yield Path(folder)


def _open(tables: str) -> sqlite3.Connection:
    # An empty name asks SQLite for an unnamed temporary file. Threads use it one at a time.
    database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    database.executescript(_FAST + tables)
    return database


def _bytes(text: str) -> bytes:
    # SQLite's TEXT type cannot hold lone surrogates, which broken JSON may contain.
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _restored(text: bytes, cut: int) -> str:
    return CutShort(_text(text)) if cut else _text(text)


class SpilledTexts(Mapping[str, str]):
    """Texts by name, in the order in which names were first added. Preserves `CutShort`."""

    def __init__(self, rows: Iterable[tuple[str, str]] = ()) -> None:
        columns = "name BLOB UNIQUE NOT NULL, text BLOB NOT NULL, cut INTEGER NOT NULL"
        self._database = _open(f"CREATE TABLE texts ({columns})")
        self.update(rows)

    def update(self, rows: Iterable[tuple[str, str]]) -> None:
        """Add (name, text) pairs. A later text replaces an earlier one of the same name."""
        insert = (
            "INSERT INTO texts VALUES (?, ?, ?) ON CONFLICT (name) "
            "DO UPDATE SET text = excluded.text, cut = excluded.cut"
        )
        values = ((_bytes(name), _bytes(text), isinstance(text, CutShort)) for name, text in rows)
        self._database.execute("BEGIN")
        self._database.executemany(insert, values)
        self._database.execute("COMMIT")

    def __getitem__(self, name: str) -> str:
        select = "SELECT text, cut FROM texts WHERE name = ?"
        row = self._database.execute(select, (_bytes(name),)).fetchone()
        if row is None:
            raise KeyError(name)
        return _restored(*row)

    def __iter__(self) -> Iterator[str]:
        for (name,) in self._database.execute("SELECT name FROM texts ORDER BY rowid"):
            yield _text(name)

    def items(self) -> ItemsView[str, str]:
        """Names with their texts, read by a single query."""
        return _Texts(self, self._database)

    def by_name(self) -> Iterator[tuple[str, str]]:
        """Names with their texts, sorted by code points, as the bytes of UTF-8 are."""
        for name, *text in self._database.execute("SELECT * FROM texts ORDER BY name"):
            yield _text(name), _restored(*text)

    def __len__(self) -> int:
        (count,) = self._database.execute("SELECT count(*) FROM texts").fetchone()
        return int(count)

    def __del__(self) -> None:
        self._database.close()


class _Texts(ItemsView[str, str]):
    def __init__(self, texts: SpilledTexts, database: sqlite3.Connection) -> None:
        super().__init__(texts)
        self._database = database

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for name, text, cut in self._database.execute("SELECT * FROM texts ORDER BY rowid"):
            yield _text(name), _restored(text, cut)


@dataclass(frozen=True, slots=True)
class SpillEntry:
    """A spilled item: its sample, its size in dense indices, and its JSON with `first` 0.

    The JSON is canonical.
    """

    sample: str
    size: int
    json: bytes

    def line(self, first: int) -> bytes:
        """The canonical JSON of the item, with its first dense index filled in."""
        # No text contains this: quotes within a text are escaped. Nested objects come later.
        return self.json.replace(b'"first":0', b'"first":%d' % first, 1)


class SpilledItems:
    """The items of one benchmark, grouped by sample, in order of first appearance."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._database = _open(
            "CREATE TABLE samples (name BLOB PRIMARY KEY, place INTEGER) WITHOUT ROWID;"
            "CREATE TABLE items (place INTEGER, number INTEGER, sample BLOB, size INTEGER, "
            "written BLOB, PRIMARY KEY (place, number)) WITHOUT ROWID"
        )
        self.count = self.size = 0
        self._database.execute("BEGIN")
        for item in items:
            self._add(item)
        self._database.execute("COMMIT")

    def _add(self, item: Item) -> None:
        sample = _bytes(item.sample)
        self._database.execute("INSERT OR IGNORE INTO samples VALUES (?, ?)", (sample, self.count))
        self._database.execute(
            "INSERT INTO items SELECT place, ?, name, ?, ? FROM samples WHERE name = ?",
            (self.count, item.size, canonical_json(encode_item(item)), sample),
        )
        self.count += 1
        self.size += item.size

    @property
    def samples(self) -> int:
        """The number of samples."""
        (count,) = self._database.execute("SELECT count(*) FROM samples").fetchone()
        return int(count)

    def __iter__(self) -> Iterator[SpillEntry]:
        select = "SELECT sample, size, written FROM items ORDER BY place, number"
        for sample, size, written in self._database.execute(select):
            yield SpillEntry(_text(sample), size, written)

    def __del__(self) -> None:
        self._database.close()
