"""The document that holds what a scan found, ``scan.json`` (``type: rra-scan/v1``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rra.environment.names import distribution_of_import
from rra.errors import Problem
from rra.scan.objects import (
    Argument,
    Command,
    CommandLine,
    ConsoleScript,
    EntryPoint,
    ResultsTable,
    Scan,
)
from rra.scan.traits.document import python_json, traits_json

TYPE = "rra-scan/v1"


def scan_document(scan: Scan) -> dict[str, Any]:
    """Return everything that a scan found, as plain JSON.

    Neither the place of the repository on this machine nor a time is in it, so that the same
    files give the same document everywhere. Its schema is the ``scan`` of
    ``schemas/cli/scan.schema.json``.
    """
    return {
        "type": TYPE,
        "files": {
            "count": len(scan.files),
            "bytes": sum(scan.files.values()),
            "truncated": scan.truncated,
        },
        "entry_points": [_entry_point(entry) for entry in scan.entry_points],
        "console_scripts": [_console_script(script) for script in scan.console_scripts],
        "commands": [_command(command) for command in scan.commands],
        "nested_commands": [_command(command) for command in scan.nested_commands],
        "order": [
            {
                "first": str(issue.first),
                "then": str(issue.then),
                "file": issue.file,
                "documented_wrong": issue.documented_wrong,
                "reason": issue.reason,
            }
            for issue in scan.order_issues
        ],
        "imports": [
            {"name": name, "distribution": distribution_of_import(name)} for name in scan.imports
        ],
        "manifests": [str(path) for path in scan.manifests],
        **_files(scan),
        "results": [_table(table) for table in scan.results],
        **traits_json(scan.traits),
        "python": {
            "statements": [
                {"text": hint.text, "source": hint.source, "exact": hint.exact}
                for hint in scan.python
            ],
            **python_json(scan.traits.python),
        },
        "licence": (
            {"spdx": scan.licence.spdx or None, "path": str(scan.licence.path)}
            if scan.licence
            else None
        ),
        "problems": [_problem(problem) for problem in scan.problems],
    }


def _files(scan: Scan) -> dict[str, Any]:
    return {
        "absolute_paths": [
            {"path": str(found.path), "line": found.line, "text": found.text}
            for found in scan.absolute_paths
        ],
        "data_paths": [
            {
                "path": data.path,
                "size": data.size,
                "readers": [str(by) for by in data.readers],
                "made_by": [str(by) for by in data.made_by],
            }
            for data in sorted(scan.data_paths, key=lambda one: one.size is None)
        ],
        "outputs": [
            {
                "path": output.pattern,
                "writer": str(output.writer),
                "line": output.line,
                "committed": output.committed,
            }
            for output in scan.outputs
        ],
        "result_files": [
            {"path": str(path), "size": scan.files[path]} for path in scan.result_files
        ],
    }


def _problem(problem: Problem) -> dict[str, Any]:
    place = {} if problem.line is None else {"line": problem.line}
    return {
        "message": problem.message,
        "path": problem.path,
        **place,
        "clause": problem.clause,
        "severity": problem.severity,
    }


def _entry_point(entry: EntryPoint) -> dict[str, Any]:
    return {
        "path": str(entry.path),
        "kind": entry.kind,
        "documented": entry.documented,
        **_command_line(entry.command_line),
    }


def _console_script(script: ConsoleScript) -> dict[str, Any]:
    return {
        "name": script.name,
        "target": script.target,
        "path": str(script.path) if script.path is not None else None,
        "source": str(script.source),
        **_command_line(script.command_line),
    }


def _command_line(found: CommandLine) -> dict[str, Any]:
    return {
        "parser": found.parser or None,
        "parameters": [_parameter(argument) for argument in found.arguments],
        "subcommands": list(found.subcommands),
        "flags_complete": found.complete,
        "flags_why": found.why or None,
    }


def _parameter(argument: Argument) -> dict[str, Any]:
    return {
        "name": argument.name,
        "flags": list(argument.flags),
        "type": argument.type,
        "default": argument.default,
        "choices": list(argument.choices),
        "takes_value": argument.takes_value,
        "default_text": argument.default_text,
        "nargs": argument.nargs,
        "required": argument.required,
        "subcommand": argument.subcommand,
        "help": argument.help,
        "path": str(argument.path),
        "line": argument.line,
    }


def _command(command: Command) -> dict[str, Any]:
    variables: Mapping[str, str] = dict(command.variables)
    return {
        "text": command.text,
        "source": str(command.source),
        "line": command.line,
        "kind": command.kind,
        "argv": list(command.argv),
        "shell": command.shell,
        "workdir": command.workdir,
        "variables": variables,
        "script": str(command.script) if command.script is not None else None,
        "target": command.target or None,
        "placeholders": list(command.placeholders),
        "purpose": command.purpose,
        "resolution": command.resolution,
        "why": command.why or None,
        "built_by": str(command.built_by) if command.built_by is not None else None,
    }


def _table(table: ResultsTable) -> dict[str, Any]:
    return {
        "source": str(table.source),
        "line": table.line,
        "heading": table.heading,
        "prose": table.prose,
        "values": [
            {
                "text": value.text,
                "unit": value.unit,
                "row": value.row,
                "column": value.column,
                "uncertainty": value.uncertainty,
                "line": value.line,
            }
            for value in table.values
        ],
    }
