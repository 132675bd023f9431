"""Cells of SQLite databases as text, and the database with some cells replaced."""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

MAGIC = b"SQLite format 3\x00"
MAX_CELLS = 200_000
"""Most cells that are read; a larger database is searched as plain bytes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """A cell that holds a number or a text.

    Attributes:
        table: Name of the table.
        column: Name of the column.
        row: Its rowid.
        kind: ``integer``, ``real`` or ``text``.
        text: The content as text.
    """

    table: str
    column: str
    row: int
    kind: str
    text: str

    @property
    def name(self) -> str:
        """The cell as an auditor can look it up."""
        return f"{self.table}.{self.column}, rowid {self.row}"


def read_cells(data: bytes) -> list[Cell] | None:
    """Return the cells of a database, or None when it cannot be read or is too large."""
    cells: list[Cell] = []
    try:
        with closing(_open(data)) as connection:
            for cell in _cells(connection):
                cells.append(cell)
                if len(cells) > MAX_CELLS:
                    return None
    except (sqlite3.Error, UnicodeError):
        return None
    return cells


def write_cells(data: bytes, cells: Sequence[Cell], texts: Mapping[str, str]) -> bytes:
    """Return the database with other content in some cells, of the type they had.

    Args:
        data: The database.
        cells: The cells to replace.
        texts: New content by `Cell.name`.
    """
    with closing(_open(data)) as connection:
        for cell in cells:
            text = texts[cell.name]
            value: str | int | float = text
            if cell.kind == "real":
                value = float(text)
            elif cell.kind == "integer":
                value = int(text)
            table, column = _quoted(cell.table), _quoted(cell.column)
            statement = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"  # noqa: S608 - quoted names
            connection.execute(statement, (value, cell.row))
        connection.commit()
        return connection.serialize()


def _open(data: bytes) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    # A write-ahead header cannot be opened from memory; the rollback form of it can.
    connection.deserialize(data[:18] + b"\x01\x01" + data[20:])
    return connection


def _cells(connection: sqlite3.Connection) -> Iterator[Cell]:
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    for (table,) in tables.fetchall():
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({_quoted(table)})")]
        with contextlib.suppress(sqlite3.OperationalError):  # a table WITHOUT ROWID
            for column in columns:
                yield from _column(connection, table, column)


def _column(connection: sqlite3.Connection, table: str, column: str) -> Iterator[Cell]:
    name = _quoted(column)
    statement = (
        f"SELECT rowid, typeof({name}), {name} FROM {_quoted(table)} "  # noqa: S608 - quoted names
        f"WHERE typeof({name}) IN ('integer', 'real', 'text') ORDER BY rowid"
    )
    for row, kind, value in connection.execute(statement):
        yield Cell(table, column, row, kind, repr(value) if kind == "real" else str(value))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
