"""What a large run has more of than memory should hold, in a temporary SQLite file each.

The file lies in the folder for temporary files, has no name there, and goes with its object.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import ItemsView, Iterable, Iterator, Mapping
from dataclasses import dataclass

from caliper.core.caption import CutShort
from caliper.core.keys import canonical_json
from caliper.core.question import Item
from caliper.pipeline.store.items import encode_item

# Nothing of it is of use after a crash.
_FAST = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"


def _open(tables: str) -> sqlite3.Connection:
    # An empty name stands for a file without one. Threads take turns; none holds it alone.
    database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    database.executescript(_FAST + tables)
    return database


def _bytes(text: str) -> bytes:
    # SQLite's own text cannot hold the lone surrogates of somebody's broken JSON.
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _as_given(text: bytes, cut: int) -> str:
    return CutShort(_text(text)) if cut else _text(text)


class SpilledTexts(Mapping[str, str]):
    """Texts by name, in the order in which the names were first added; `CutShort` stays so."""

    def __init__(self, rows: Iterable[tuple[str, str]] = ()) -> None:
        columns = "name BLOB UNIQUE NOT NULL, text BLOB NOT NULL, cut INTEGER NOT NULL"
        self._database = _open(f"CREATE TABLE texts ({columns})")
        self.add(rows)

    def add(self, rows: Iterable[tuple[str, str]]) -> None:
        """Add (name, text); of a name the last text counts."""
        insert = (
            "INSERT INTO texts VALUES (?, ?, ?) ON CONFLICT (name) "
            "DO UPDATE SET text = excluded.text, cut = excluded.cut"
        )
        given = ((_bytes(name), _bytes(text), isinstance(text, CutShort)) for name, text in rows)
        self._database.execute("BEGIN")
        self._database.executemany(insert, given)
        self._database.execute("COMMIT")

    def __getitem__(self, name: str) -> str:
        select = "SELECT text, cut FROM texts WHERE name = ?"
        row = self._database.execute(select, (_bytes(name),)).fetchone()
        if row is None:
            raise KeyError(name)
        return _as_given(*row)

    def __iter__(self) -> Iterator[str]:
        for (name,) in self._database.execute("SELECT name FROM texts ORDER BY rowid"):
            yield _text(name)

    def items(self) -> ItemsView[str, str]:
        """The names with their texts, read in one go."""
        return _Texts(self, self._database)

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
            yield _text(name), _as_given(text, cut)


@dataclass(frozen=True, slots=True)
class SpillEntry:
    """An item as it was added: its sample, how many indices it takes, and its JSON object with
    `first` still 0.
    """

    sample: str
    size: int
    written: bytes

    def line(self, first: int) -> bytes:
        """The canonical JSON of the item with its first index."""
        return canonical_json({**json.loads(self.written), "first": first})


class SpilledItems:
    """The items of one benchmark, all of a sample together, in order of first appearance."""

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
        """How many samples there are."""
        (count,) = self._database.execute("SELECT count(*) FROM samples").fetchone()
        return int(count)

    def __iter__(self) -> Iterator[SpillEntry]:
        select = "SELECT sample, size, written FROM items ORDER BY place, number"
        for sample, size, written in self._database.execute(select):
            yield SpillEntry(_text(sample), size, written)

    def __del__(self) -> None:
        self._database.close()
