"""What a scan finds, as frozen values."""

from __future__ import annotations

import dataclasses
from pathlib import Path, PurePosixPath
from typing import Literal

from rra.errors import Problem
from rra.scan.scopes import LocalCall
from rra.scan.traits.code import CodeTraits
from rra.scan.traits.objects import Traits

ParameterType = Literal["string", "integer", "number", "boolean"]
CommandKind = Literal["run", "build", "install", "download", "test", "other"]
CommandPurpose = Literal[
    "install", "download", "build", "prepare", "train", "evaluate", "plot", "run", "test", "other"
]
Resolution = Literal["script", "built", "outside", "missing"]


@dataclasses.dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a script's command line, as its code declares it.

    Attributes:
        name: Destination name, such as ``folds``; dotted for a key of a configuration.
        flags: Spellings on the command line; empty for a positional argument, and
            ``("optimizer.lr=",)`` for an override of hydra.
        type: Type of the value.
        default: Literal default, or None.
        choices: Literal choices.
        help: Help text.
        takes_value: Whether it takes exactly one value; False for a switch such as ``store_true``
            and where ``nargs`` says something else.
        line: Line of the declaration.
        path: File of the declaration, which need not be the script.
        default_text: The default as text, also where only a run knows its value; empty without.
        nargs: Number of values as ``argparse`` writes it (``?``, ``*``, ``+``, ``2``, ``...``),
            ``0`` for a switch, or empty for one.
        required: Whether the script refuses to run without it.
        subcommand: Words of the subcommand that it belongs to, empty for the command itself.
    """

    name: str
    flags: tuple[str, ...]
    type: ParameterType
    default: str | int | float | bool | None
    choices: tuple[str | int | float | bool, ...]
    help: str
    takes_value: bool
    line: int
    path: PurePosixPath = dataclasses.field(default_factory=PurePosixPath)
    default_text: str = ""
    nargs: str = ""
    required: bool = False
    subcommand: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class CommandLine:
    """How a script reads its command line.

    Attributes:
        parser: Name of what reads it: ``argparse``, ``click``, ``typer``, ``absl``, ``hydra``,
            ``fire``, ``dataclass`` (argparse made from dataclasses), ``optparse``, ``docopt``,
            ``getopt``, ``sys.argv`` or empty.
        arguments: Declared arguments, in the order of declaration.
        subcommands: Words of each subcommand, such as ``("train", "data fetch")``.
        complete: Whether it accepts no other flags than those of `arguments`.
        why: Why it may accept others, or empty.
        abbreviates: Whether the first letters of a long flag are enough.
    """

    parser: str = ""
    arguments: tuple[Argument, ...] = ()
    subcommands: tuple[str, ...] = ()
    complete: bool = False
    why: str = ""
    abbreviates: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class ConsoleScript:
    """A command that the repository's own package installs.

    Attributes:
        name: Name of the command.
        target: ``package.module:function``, or the script that is installed as it is.
        path: File of the repository that holds it, or None.
        source: File that declares it.
        command_line: How it reads its command line.
    """

    name: str
    target: str
    path: PurePosixPath | None
    source: PurePosixPath
    command_line: CommandLine = CommandLine()


@dataclasses.dataclass(frozen=True, slots=True)
class FileUse:
    """A file that code reads or writes, as far as the text tells.

    Attributes:
        pattern: Path as the code names it; parts that only a run knows are ``*``.
        line: Line of the call.
    """

    pattern: str
    line: int


@dataclasses.dataclass(frozen=True, slots=True)
class TextLiteral:
    """A string literal of the code with its line."""

    text: str
    line: int


@dataclasses.dataclass(frozen=True, slots=True)
class PythonFile:
    """One Python file, read without being run.

    Attributes:
        path: Place in the repository.
        imports: Top-level names that it imports.
        local_imports: Dotted modules as written, for finding local files.
        guarded: Whether it has ``if __name__ == "__main__"``.
        runs: Whether statements at module level do more than define things.
        command_line: How it reads its command line.
        reads: Files that calls read.
        writes: Files that calls write.
        calls: Calls of functions of other files, with the paths that they are given.
        checks: Files whose existence is asked for.
        strings: String literals that look like paths.
        seeds: Lines where a seed is set.
        printed: String literals inside calls that print or log.
        prints: Whether anything is printed to standard output.
        asks: Lines that wait for somebody to type, with ``input`` or ``raw_input``.
        syntax_error: Why the parser refuses it, or empty.
        python2: Whether it is written for Python 2.
        traits: Downloads, seeds, devices and clues to the Python version.
    """

    path: PurePosixPath
    imports: frozenset[str] = frozenset()
    local_imports: frozenset[str] = frozenset()
    guarded: bool = False
    runs: bool = False
    command_line: CommandLine = CommandLine()
    reads: tuple[FileUse, ...] = ()
    writes: tuple[FileUse, ...] = ()
    calls: tuple[LocalCall, ...] = ()
    checks: tuple[FileUse, ...] = ()
    strings: tuple[TextLiteral, ...] = ()
    seeds: tuple[int, ...] = ()
    printed: tuple[TextLiteral, ...] = ()
    prints: bool = False
    asks: tuple[int, ...] = ()
    syntax_error: str = ""
    python2: bool = False
    traits: CodeTraits = dataclasses.field(default_factory=CodeTraits)

    @property
    def parser(self) -> str:
        """How it reads its arguments, or empty."""
        return self.command_line.parser

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """Declared arguments."""
        return self.command_line.arguments


@dataclasses.dataclass(frozen=True, slots=True)
class Command:
    """A command that the documentation gives.

    Attributes:
        text: The command as written, continuation lines joined.
        source: Document that gives it.
        line: Line there.
        kind: What it is for.
        argv: The words of the command; ``("bash", "-c", text)`` where it needs a shell.
        shell: Whether it needs a shell.
        workdir: Directory that it is run in, relative to the repository.
        variables: Environment variables set in front of it.
        script: The file of the repository that it starts, when found.
        target: File or program that it names but that is not there.
        placeholders: Words that a reader has to replace.
        purpose: What it is for, more finely than its kind: the names that it gives tell.
        resolution: ``script``: it starts a file of the repository; ``built``: a program that the
            repository builds; ``outside``: neither is needed; ``missing``: what it names is not
            there.
        why: Why it starts no file of the repository, or empty.
        built_by: Build file that builds the program that it starts, or None.
        joins: Whether it joins several commands, which are told one by one as well.
        inline: Whether it stands in running text, and not in a block.
    """

    text: str
    source: PurePosixPath
    line: int
    kind: CommandKind
    argv: tuple[str, ...]
    shell: bool = False
    workdir: str = "."
    variables: tuple[tuple[str, str], ...] = ()
    script: PurePosixPath | None = None
    target: str = ""
    placeholders: tuple[str, ...] = ()
    purpose: CommandPurpose = "other"
    resolution: Resolution = "outside"
    why: str = ""
    built_by: PurePosixPath | None = None
    joins: bool = False
    inline: bool = False

    @property
    def resolved(self) -> bool:
        """Whether all that it names is there, built by the repository, or from outside."""
        return self.resolution != "missing"


@dataclasses.dataclass(frozen=True, slots=True)
class EntryPoint:
    """A file that is meant to be started.

    Attributes:
        path: Place in the repository.
        kind: Kind of file.
        documented: Whether a document gives a command for it.
        command_line: How it reads its command line.
    """

    path: PurePosixPath
    kind: Literal["python", "shell", "notebook", "make", "other"]
    documented: bool
    command_line: CommandLine = CommandLine()

    @property
    def parser(self) -> str:
        """How it reads its arguments, or empty."""
        return self.command_line.parser

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """Declared arguments."""
        return self.command_line.arguments


@dataclasses.dataclass(frozen=True, slots=True)
class ResultValue:
    """One number of a results table or of a sentence about results.

    Attributes:
        text: The number exactly as written.
        unit: Unit as written, or None.
        row: Label of its row, empty where there is none.
        column: Label of its column.
        uncertainty: Text behind ``±``, or empty.
        line: 1-based line in the document.
        row_name: Header of the column that labels rows, empty where there is none.
    """

    text: str
    unit: str | None
    row: str
    column: str
    uncertainty: str
    line: int
    row_name: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class ResultsTable:
    """Results that a document reports.

    Attributes:
        source: The document.
        line: Line where the table starts.
        heading: Nearest heading above it.
        values: Its numbers, row by row.
        prose: Whether the numbers stand in sentences rather than in a table.
    """

    source: PurePosixPath
    line: int
    heading: str
    values: tuple[ResultValue, ...]
    prose: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class AbsolutePath:
    """A path of somebody's machine in the code."""

    path: PurePosixPath
    line: int
    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class DataFile:
    """A file of the repository that code reads as input.

    Attributes:
        path: Place in the repository.
        readers: Scripts that read it.
        size: Size in bytes.
    """

    path: PurePosixPath
    readers: tuple[PurePosixPath, ...]
    size: int


@dataclasses.dataclass(frozen=True, slots=True)
class DataPath:
    """Data that code, a command or a file of settings names as what it reads.

    Attributes:
        path: Path relative to the repository, or of a machine; unknown parts are ``*``.
        readers: Scripts and files of settings that name it.
        size: Size in bytes, 0 for a folder; None when it is not in the repository.
        made_by: Scripts that write it.
    """

    path: str
    readers: tuple[PurePosixPath, ...]
    size: int | None
    made_by: tuple[PurePosixPath, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Output:
    """A file that code writes.

    Attributes:
        pattern: Path relative to the repository, or of a machine; parts that only a run knows are
            ``*``.
        writer: The script.
        line: Line of the call.
        committed: Whether a file of that name is already there.
        given: Places of the commands whose words name the file; empty when the code does.
    """

    pattern: str
    writer: PurePosixPath
    line: int
    committed: bool
    given: tuple[tuple[PurePosixPath, int], ...] = ()

    @property
    def inside(self) -> bool:
        """Whether it lies in the repository."""
        return not self.pattern.startswith(("/", "~"))


@dataclasses.dataclass(frozen=True, slots=True)
class OrderIssue:
    """A script reads what another one writes.

    Attributes:
        first: The script that writes.
        then: The script that reads.
        file: The file between them.
        documented_wrong: Whether the documentation gives them in the other order.
        reason: Where the one writes the file and the other reads it.
    """

    first: PurePosixPath
    then: PurePosixPath
    file: str
    documented_wrong: bool
    reason: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class PythonHint:
    """A statement about the Python version.

    Attributes:
        text: Version or specifier as written.
        source: File and line.
        exact: Whether it names one version rather than a range or a remark.
    """

    text: str
    source: str
    exact: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Licence:
    """The licence: its SPDX identifier when known, and the file."""

    spdx: str
    path: PurePosixPath


@dataclasses.dataclass(frozen=True, slots=True)
class Scan:
    """Everything that a scan of one repository found; no code of it was run.

    Attributes:
        root: The repository.
        files: Files that were listed, with sizes in bytes.
        entry_points: Files that are meant to be started.
        commands: Commands that documents give, in order.
        python_files: Python files that were read.
        notebooks: Notebooks.
        results: Results that documents report.
        imports: Imported distributions' top-level names, neither local nor standard library.
        manifests: Files that declare dependencies.
        absolute_paths: Paths of somebody's machine.
        data_files: Files that code reads as input.
        outputs: Files that code writes into the repository.
        result_files: Committed files that look like results.
        order_issues: Scripts that read what others write.
        licence: The licence, or None.
        python: Statements about the Python version.
        problems: What could not be read, and what will get in the way.
        truncated: Whether the repository has more files than were listed.
        traits: Downloads, seeds, devices, languages and other facts of the whole.
        console_scripts: Commands that the repository's own package installs.
        nested_commands: Commands inside shell scripts, Makefiles and notebooks.
        data_paths: Everything that is read as data, present or not, made or not.
    """

    root: Path
    files: dict[PurePosixPath, int]
    entry_points: tuple[EntryPoint, ...]
    commands: tuple[Command, ...]
    python_files: dict[PurePosixPath, PythonFile]
    notebooks: tuple[PurePosixPath, ...]
    results: tuple[ResultsTable, ...]
    imports: tuple[str, ...]
    manifests: tuple[PurePosixPath, ...]
    absolute_paths: tuple[AbsolutePath, ...]
    data_files: tuple[DataFile, ...]
    outputs: tuple[Output, ...]
    result_files: tuple[PurePosixPath, ...]
    order_issues: tuple[OrderIssue, ...]
    licence: Licence | None
    python: tuple[PythonHint, ...]
    problems: tuple[Problem, ...]
    truncated: bool
    traits: Traits = dataclasses.field(default_factory=Traits)
    console_scripts: tuple[ConsoleScript, ...] = ()
    nested_commands: tuple[Command, ...] = ()
    data_paths: tuple[DataPath, ...] = ()

    def installed_as(self, script: PurePosixPath) -> frozenset[str]:
        """Return the installed commands that start a script.

        Args:
            script: The script.
        """
        return frozenset(one.name for one in self.console_scripts if one.path == script)
