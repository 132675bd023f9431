"""What a raw repository declares, how it is run, and what it lacks; nothing of it is run."""

from __future__ import annotations

from rra.scan.document import scan_document
from rra.scan.objects import (
    AbsolutePath,
    Argument,
    Command,
    CommandLine,
    ConsoleScript,
    DataFile,
    EntryPoint,
    FileUse,
    Licence,
    OrderIssue,
    Output,
    PythonFile,
    PythonHint,
    ResultsTable,
    ResultValue,
    Scan,
    TextLiteral,
)
from rra.scan.parameters import arguments_for, given_values, own_arguments, unknown_flags
from rra.scan.parameters.scripts import words_after
from rra.scan.reach import missing_import_roots
from rra.scan.repository import files_behind_script, scan_repository, third_party_imports

__all__ = [
    "AbsolutePath",
    "Argument",
    "Command",
    "CommandLine",
    "ConsoleScript",
    "DataFile",
    "EntryPoint",
    "FileUse",
    "Licence",
    "OrderIssue",
    "Output",
    "PythonFile",
    "PythonHint",
    "ResultValue",
    "ResultsTable",
    "Scan",
    "TextLiteral",
    "arguments_for",
    "files_behind_script",
    "given_values",
    "missing_import_roots",
    "own_arguments",
    "scan_document",
    "scan_repository",
    "third_party_imports",
    "unknown_flags",
    "words_after",
]
