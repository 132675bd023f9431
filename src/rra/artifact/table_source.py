"""Reading the table that a results table is declared by, and naming its rows and columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from rra._base.files import safe_join
from rra.artifact import inventory, layout
from rra.errors import FormatError, SelectError, UnsafePathError
from rra.model import Manifest
from rra.values.reported_tables import find_table
from rra.values.tables import Cell, read_cell

MAX_BYTES = 4 * 1024 * 1024
"""Size up to which a file is read as a reported table."""

EMPTY = frozenset(
    {"", "-", "--", "---", "–", "—", "−", "…", "...", "n/a", "na", "n.a.", "n.a", "nr", "n.r."}
)
"""Contents of cells, in small letters, that say that there is no value."""


@dataclasses.dataclass(frozen=True)
class ReportedTable:
    """The table as the paper has it, with names for its rows.

    Attributes:
        path: File, relative to the artifact.
        header: Names of the columns.
        labels: Columns, by position, that name the rows.
        rows: Cells by row.
        names: What names each row.
        line: Line of the header.
    """

    path: PurePosixPath
    header: tuple[str, ...]
    labels: tuple[int, ...]
    rows: tuple[tuple[Cell, ...], ...]
    names: tuple[str, ...]
    line: int

    @property
    def place(self) -> str:
        """``file:line`` of the header."""
        return f"{self.path}:{self.line}"

    def columns_called(self, name: str) -> list[int]:
        """Return the positions of the columns with a name."""
        wanted = same_form(name)
        return [at for at, header in enumerate(self.header) if same_form(header) == wanted]

    def rows_called(self, name: str) -> list[int]:
        """Return the positions of the rows with a name."""
        wanted = same_form(name)
        return [at for at, known in enumerate(self.names) if known == wanted]

    def rows_where(self, texts: Mapping[str, str]) -> list[int]:
        """Return the positions of the rows whose cells have the given texts, by column name.

        Raises:
            SelectError: A column does not exist, or several have its name.
        """
        wanted = {self.column(name): same_form(text) for name, text in texts.items()}
        return [
            index
            for index, row in enumerate(self.rows)
            if all(same_form(self.label(index, at, row[at])) == text for at, text in wanted.items())
        ]

    def label(self, index: int, column: int, cell: Cell) -> str:
        """Return the text of a cell; one that is empty among several labels repeats the above."""
        if not cell.text and column in self.labels[:-1]:
            above = [row[column].text for row in self.rows[:index] if row[column].text]
            return above[-1] if above else ""
        return cell.text

    def column(self, name: str) -> int:
        """Return the position of the one column with a name.

        Raises:
            SelectError: There is none, or several.
        """
        found = self.columns_called(name)
        if len(found) == 1:
            return found[0]
        if found:
            raise SelectError(
                f"{len(found)} columns of {self.place} are called {name!r}",
                hint="give them different names in the file",
            )
        known = ", ".join(header or "(no name)" for header in self.header)
        raise SelectError(f"{self.place} has no column {name!r}", hint=f"columns: {known}")


def same_form(name: str) -> str:
    """Return a name without markup and with single spaces, as names are compared."""
    return " ".join(read_cell(name).text.split())


def parse_reported(reference: str, text: str) -> ReportedTable:
    """Read the table that ``file#which`` means, its rows named by the first column.

    Args:
        reference: File, and behind ``#`` which of its tables.
        text: What the file holds.

    Raises:
        SelectError: There is no such table, or it cannot be read.
    """
    name, _, fragment = reference.partition("#")
    path = PurePosixPath(name)
    table = find_table(path, text, fragment)
    if not table.header or not table.rows:
        raise SelectError(f"the table in {path} has no rows", hint="look at the file")
    return named_by(ReportedTable(path, table.header, (0,), table.rows, (), table.line), None)


def reported_text(root: Path, manifest: Manifest, reference: str) -> str:
    """Return the text of the file that ``file#which`` means.

    Args:
        root: The artifact.
        manifest: Its manifest, which says where code and data are.
        reference: File, and behind ``#`` which of its tables.

    Raises:
        SelectError: There is no such file, it does not travel with the artifact, or it is no text.
    """
    path = PurePosixPath(reference.partition("#")[0])
    try:
        file = safe_join(root, str(path))
        if not file.is_file():
            raise SelectError(f"there is no file {path}", hint="the path starts at the artifact")
        if not _is_kept(root, manifest, path):
            raise SelectError(
                f"{path} is in none of the artifact's elements, so nobody else gets it",
                hint=f"put it into {layout.GUIDE_DIR}/, such as {layout.GUIDE_DIR}/reported/",
            )
        if file.stat().st_size > MAX_BYTES:
            raise SelectError(f"{path} is larger than {MAX_BYTES >> 20} MiB")
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SelectError(f"{path} is not UTF-8: {error.reason}", hint="save it so") from error
    except OSError as error:
        raise SelectError(f"{path} cannot be read: {error.strerror}") from error
    except (UnsafePathError, FormatError) as error:
        raise SelectError(error.message, hint=error.hint) from error


def _is_kept(root: Path, manifest: Manifest, path: PurePosixPath) -> bool:
    """Tell whether a file belongs to an element that travels with the artifact."""
    if path.parts[0] in {layout.EVIDENCE_DIR, layout.OUTPUTS_DIR}:
        return False
    elements = ("meta", "guide", "data", "code")
    return any(path in inventory.element_files(root, manifest, element) for element in elements)


def named_by(read: ReportedTable, row_label: str | Sequence[str] | None) -> ReportedTable:
    """Return a table whose rows are named by other columns; as it is when None.

    Args:
        read: The table.
        row_label: Column or columns that name the rows.

    Raises:
        SelectError: A column does not exist, or several have its name.
    """
    if row_label is not None:
        columns = [row_label] if isinstance(row_label, str) else list(row_label)
        read = dataclasses.replace(read, labels=tuple(read.column(name) for name in columns))
    names = [
        same_form(" ".join(read.label(index, at, row[at]) for at in read.labels))
        for index, row in enumerate(read.rows)
    ]
    return dataclasses.replace(read, names=tuple(names))
