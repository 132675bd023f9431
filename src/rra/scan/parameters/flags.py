"""Which flags a script accepts, and which of a documented command it does not."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from rra.scan.objects import Argument, CommandLine

_NUMBER = re.compile(r"^-\.?\d")
_HELP = frozenset({"-h", "--help"})
_OWN: dict[str, frozenset[str]] = {
    "typer": frozenset({"--install-completion", "--show-completion"}),
    "fire": frozenset({"--interactive", "--trace", "--verbose", "--completion", "--separator"}),
    "tyro": frozenset({"--tyro-print-completion", "--tyro-write-completion"}),
    "optparse": frozenset({"--version"}),
    "docopt": frozenset({"--version"}),
    "absl": frozenset(
        {"--helpfull", "--helpshort", "--helpxml", "--flagfile", "--undefok", "--logtostderr"}
        | {"--alsologtostderr", "--log_dir", "--v", "-v", "--verbosity", "--stderrthreshold"}
        | {"--logger_levels", "--showprefixforinfo", "--run_with_pdb", "--pdb_post_mortem"}
        | {"--pdb", "--run_with_profiling", "--profile_file", "--use_cprofile_for_profiling"}
        | {"--only_check_args", "--nologtostderr", "--noalsologtostderr"}
    ),
    "hydra": frozenset(
        {"--config-name", "-cn", "--config-path", "-cp", "--config-dir", "-cd", "--multirun", "-m"}
        | {"--run", "-r", "--cfg", "-c", "--hydra-help", "--version", "--resolve", "--package"}
        | {"-p", "--info", "-i", "--shell-completion", "-sc", "--experimental-rerun"}
    ),
}
_OVERRIDE = re.compile(r"^(?P<sign>\+{0,2}|~)(?P<key>[A-Za-z_][\w./@:-]*)=")
_DASHED_ALIKE = frozenset({"tyro", "fire"})


@dataclasses.dataclass(frozen=True)
class AcceptedFlags:
    """The flags that a script accepts.

    Attributes:
        flags: Their spellings; ``key=`` for the overrides of hydra.
        complete: Whether it accepts no others.
        why: Why it may accept others, or empty.
    """

    flags: frozenset[str]
    complete: bool
    why: str


def accepted_flags(command_line: CommandLine, words: Sequence[str] = ()) -> AcceptedFlags:
    """Answer which flags a script accepts, and whether the list is complete.

    Args:
        command_line: How the script reads its command line.
        words: The words of a command after the script; those that name a subcommand narrow the
            answer to its flags and those of the commands above it.
    """
    flags = {flag for argument in arguments_for(command_line, words) for flag in argument.flags}
    own = _OWN.get(command_line.parser, frozenset()) | _HELP
    return AcceptedFlags(frozenset(flags | own), command_line.complete, command_line.why)


def arguments_for(command_line: CommandLine, words: Sequence[str]) -> tuple[Argument, ...]:
    """Return the arguments that a command may give: those of its subcommand and of those above.

    Args:
        command_line: How the script reads its command line.
        words: The words of the command after the script.
    """
    chosen = _chosen(command_line.subcommands, words)
    return tuple(
        argument
        for argument in command_line.arguments
        if chosen is None or _above(argument.subcommand, chosen)
    )


def own_arguments(command_line: CommandLine, words: Sequence[str]) -> tuple[Argument, ...]:
    """Return the arguments of the subcommand that a command names, and none of the others.

    Where no word names one, only what belongs to all of them is returned.

    Args:
        command_line: How the script reads its command line.
        words: The words of the command after the script.
    """
    if _chosen(command_line.subcommands, words) is not None:
        return arguments_for(command_line, words)
    return tuple(one for one in command_line.arguments if not one.subcommand)


def given_values(command_line: CommandLine, words: Sequence[str]) -> dict[str, str]:
    """Return what a command gives for its arguments, by their names.

    Args:
        command_line: How the script reads its command line.
        words: The words of the command after the script.
    """
    arguments = arguments_for(command_line, words)
    by_flag = {flag: argument for argument in arguments for flag in argument.flags}
    rest = [argument for argument in arguments if not argument.flags]
    names = set((_chosen(command_line.subcommands, words) or "").split())
    found: dict[str, str] = {}
    open_argument: Argument | None = None
    for word in words:
        flag, equals, value = word.partition("=")
        argument = by_flag.get(word) or by_flag.get(f"{flag}=") or by_flag.get(flag)
        if argument is not None and (word.startswith("-") or equals):
            negated = flag in argument.flags and flag.lstrip("-").startswith("no")
            switch = "false" if negated and argument.nargs == "0" else "true"
            found[argument.name] = value if equals else switch
            open_argument = argument if argument.nargs != "0" and not equals else None
            if open_argument is not None and argument.nargs != "?":
                found[argument.name] = ""
        elif open_argument is not None:
            before = found[open_argument.name] if open_argument.nargs not in {"", "?"} else ""
            found[open_argument.name] = f"{before} {word}".strip()
            if open_argument.takes_value or open_argument.nargs == "?":
                open_argument = None
        elif word in names:
            names.discard(word)
        elif rest and not word.startswith("-"):
            before = found.get(rest[0].name, "")
            found[rest[0].name] = f"{before} {word}".strip()
            if rest[0].nargs in {"", "?"}:
                rest.pop(0)
    return found


def unknown_flags(command_line: CommandLine, words: Sequence[str]) -> tuple[str, ...]:
    """Return the flags of a command that its script does not accept, as far as that is certain.

    Nothing is returned where the script may accept others than those that were found.

    Args:
        command_line: How the script reads its command line.
        words: The words of the command after the script.
    """
    accepted = accepted_flags(command_line, words)
    if not accepted.complete:
        return ()
    rest = {flag for a in command_line.arguments if a.nargs in {"...", "A..."} for flag in a.flags}
    swallows = any(a.nargs in {"...", "A..."} and not a.flags for a in command_line.arguments)
    by_flag = {flag: a for a in command_line.arguments for flag in a.flags}
    found: dict[str, None] = {}
    plain = skip = 0
    for word in words:
        if word == "--" or word in rest or (swallows and plain and not word.startswith("-")):
            break
        if skip:
            skip -= 1
            if not word.startswith("--") or command_line.parser in {"click", "typer", "absl"}:
                continue
        if command_line.parser == "hydra" and not word.startswith("-"):
            if not _overrides(word, accepted.flags):
                found[word.partition("=")[0]] = None
            continue
        if not word.startswith("-") or word == "-" or _NUMBER.match(word):
            plain += 1
            continue
        flag, equals, _ = word.partition("=")
        if not _accepts(flag, accepted.flags, command_line):
            found[flag] = None
        argument = by_flag.get(flag)
        skip = int(argument is not None and argument.takes_value and not equals)
    return tuple(found)


def _chosen(subcommands: Sequence[str], words: Sequence[str]) -> str | None:
    """Return the longest subcommand that the words name in order; None without subcommands."""
    if not subcommands:
        return ""
    best: str | None = None
    for subcommand in subcommands:
        rest = iter(words)
        named = all(part in rest for part in subcommand.split())
        if named and (best is None or len(subcommand.split()) > len(best.split())):
            best = subcommand
    return best


def _above(subcommand: str, chosen: str) -> bool:
    return not subcommand or chosen == subcommand or chosen.startswith(f"{subcommand} ")


def _accepts(flag: str, flags: frozenset[str], command_line: CommandLine) -> bool:
    if flag in flags:
        return True
    parser = command_line.parser
    if parser in _DASHED_ALIKE and flag.replace("_", "-") in {f.replace("_", "-") for f in flags}:
        return True
    if parser in {"absl", "fire"} and f"-{flag}" in flags:
        return True
    if flag.startswith("--"):
        return command_line.abbreviates and any(f.startswith(flag) for f in flags)
    if parser == "fire":
        return sum(f.startswith(f"-{flag}") for f in flags) == 1
    return _is_cluster(flag, flags, command_line.arguments)


def _is_cluster(flag: str, flags: frozenset[str], arguments: Sequence[Argument]) -> bool:
    """Tell whether ``-xvf`` or ``-n5`` is made of short flags and a value."""
    by_flag = {f: argument for argument in arguments for f in argument.flags}
    for number, letter in enumerate(flag[1:], start=1):
        short = f"-{letter}"
        if short not in flags:
            return False
        if short in by_flag and by_flag[short].nargs != "0":
            return True
        if number == len(flag) - 1:
            return True
    return False


def _overrides(word: str, flags: frozenset[str]) -> bool:
    """Tell whether a word is an override that hydra accepts, or no override at all."""
    found = _OVERRIDE.match(word)
    if found is None or found["sign"] or found["key"].startswith("hydra"):
        return True
    key = found["key"]
    return f"{key}=" in flags or any(f.startswith(f"{key}.") for f in flags)
