"""What labels say and what a scan says of one repository, as sets that can be compared.

Each function returns one set of tuples for each field. Only fields that the labels have are
compared, so that a label file may leave out what nobody wrote down.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Facts = dict[str, set[tuple[str, ...]]]
Json = Mapping[str, Any]

#: Words that start lines of a shell which run nothing that could be labelled.
_SILENT = re.compile(
    r"^(?:cd|export|mkdir|echo|source|module|set|rm|cp|mv|ls|if|then|fi|do|done|for|while|\.)\b"
    r"|^\w+=\S*$|^\."
    r"(?= )"
)
_UNKNOWN_FLAG = re.compile(r" gives (?P<flag>\S+), which (?P<script>.+) does not accept$")
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
#: What labels tell apart and a scan does not: a path and a list are texts on a command line.
_KINDS = {"path": "str", "list": "str"}


#: Keys of labels whose lists become a field as they are.
_LISTS = {
    "order": "order",
    "data_paths": "data paths",
    "checkpoints": "checkpoints",
    "seeds": "seeds",
    "devices": "devices",
    "absolute_paths": "absolute paths",
    "outputs": "outputs",
    "result_files": "result files",
    "lfs_pointers": "LFS pointers",
    "submodules": "submodules",
    "languages": "languages",
}


def labelled(labels: Json) -> Facts:
    """Return what the labels of a repository say."""
    facts: Facts = {}
    for key, content in labels.items():
        if key in _LABELS:
            _LABELS[key](facts, content)
        elif key in _LISTS:
            facts[_LISTS[key]] = {tuple(map(pattern, _strings(entry))) for entry in content}
    return facts


def _label_commands(facts: Facts, commands: Iterable[Json]) -> None:
    commands = list(commands)
    facts["commands"] = {(plain(c["text"]),) for c in commands}
    facts["command scripts"] = {(plain(c["text"]), _script(c)) for c in commands}
    facts["command kinds"] = {(plain(c["text"]), c["kind"]) for c in commands}


def _label_imports(facts: Facts, imports: Mapping[str, str | None]) -> None:
    facts["imports"] = {(name,) for name in imports}
    facts["distributions"] = {(name, fold(to) if to else "unknown") for name, to in imports.items()}


def _label_unknown_flags(facts: Facts, unknown: Iterable[Json]) -> None:
    facts["unknown flags"] = {(entry["script"], entry["flag"]) for entry in unknown}


def _label_results(facts: Facts, results: Iterable[Json]) -> None:
    facts["results"] = {(result["place"], result["value"]) for result in results}


def _label_python(facts: Facts, python: Mapping[str, str | None]) -> None:
    facts["python"] = {(side, version) for side, version in python.items() if version is not None}


def _label_gpu(facts: Facts, need: str) -> None:
    facts["gpu"] = {(need,)}


def _label_licence(facts: Facts, licence: str | None) -> None:
    facts["licence"] = {(spdx(licence),)} if licence else set()


def _strings(entry: object) -> tuple[str, ...]:
    return tuple(map(str, entry)) if isinstance(entry, list) else (str(entry),)


def _script(command: Json) -> str:
    """Return what a command starts: a file, one that is not there, or nothing of the repository."""
    absent = command.get("absent")
    return f"absent {absent}" if absent else str(command.get("script") or "nothing")


def _label_parameters(facts: Facts, entries: Iterable[Json]) -> None:
    entries = list(entries)
    parameters = [(e["script"], p) for e in entries for p in e["parameters"]]
    facts["entry points"] = {(entry["script"],) for entry in entries}
    facts["parameters"] = {(script, _flag(p)) for script, p in parameters}
    facts["parameter types"] = {
        (script, _flag(p), _KINDS.get(p["type"], p["type"])) for script, p in parameters
    }
    facts["parameter defaults"] = {
        (script, _flag(p), value(p["default"]))
        for script, p in parameters
        if p["default"] not in (None, "")
    }
    facts["parameter choices"] = {
        (script, _flag(p), ", ".join(map(str, p["choices"])))
        for script, p in parameters
        if p.get("choices")
    }


def _flag(parameter: Json) -> str:
    return f"{parameter.get('subcommand', '')} {parameter['flag']}".strip()


def _label_notebooks(facts: Facts, notebooks: Iterable[Json]) -> None:
    facts["notebooks"] = set()
    for notebook in notebooks:
        _label_notebook(facts["notebooks"], notebook)


def _label_notebook(facts: set[tuple[str, ...]], notebook: Json) -> None:
    facts.add((notebook["path"], f"in order: {notebook['in_order']}"))
    if "errors" in notebook:
        facts.add((notebook["path"], f"errors: {notebook['errors']}"))
    facts |= {(notebook["path"], f"missing: {name}") for name in notebook.get("missing_names", ())}


def _label_downloads(facts: Facts, downloads: Iterable[str]) -> None:
    facts["downloads"] = {_download(what) for what in downloads}


_LABELS: Mapping[str, Callable[[Facts, Any], None]] = {
    "entry_points": _label_parameters,
    "commands": _label_commands,
    "downloads": _label_downloads,
    "unknown_flags": _label_unknown_flags,
    "imports": _label_imports,
    "python": _label_python,
    "notebooks": _label_notebooks,
    "results": _label_results,
    "gpu": _label_gpu,
    "licence": _label_licence,
}


def plain(text: str) -> str:
    """Return a command's words without quotes, comments, white space, and hosts of packages."""
    try:
        words = shlex.split(text, comments=True)
    except ValueError:
        words = text.split()
    text = re.sub(r"(--index-url) \S+", r"\1 INDEX", " ".join(words))
    return text.rstrip(" &").strip()


def value(default: object) -> str:
    """Return a default as text; numbers and truth values by what they are worth."""
    text = str(default)
    try:
        return repr(float(text.replace("_", "")))
    except ValueError:
        listed = text.strip("[]()").replace("'", "").replace('"', "").replace(" ", "")
        return listed.lower() if listed.lower() in {"true", "false"} else listed


def pattern(text: str) -> str:
    """Return a name whose parts that only a run knows are ``*``, however they are written."""
    return re.sub(r"\{[^{}]*\}|%0?\d*[sdi]", "*", text)


def fold(distribution: str) -> str:
    """Return the normalized name of a distribution (the names of Python's packaging)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def spdx(licence: str) -> str:
    """Return an identifier without ``-only``: a licence's text does not say which it is."""
    return licence.removesuffix("-only")


def is_silent(text: str) -> bool:
    """Tell whether a line of a shell runs nothing that could be labelled."""
    return bool(_SILENT.match(text))


def found(document: Json) -> Facts:
    """Return what a scan says, from the document that `rra scan` writes."""
    facts: Facts = {}
    no_code = {"shell", "notebook", "make"}
    entries = [entry for entry in document["entry_points"] if entry["kind"] not in no_code]
    parameters = [(str(e["path"]), p) for e in entries for p in _numbered(e)]
    facts["entry points"] = {(entry["path"],) for entry in entries}
    facts["parameters"] = {(script, _name(p)) for script, p in parameters}
    facts["parameter types"] = {
        (script, _name(p), str(_TYPES.get(p["type"], p["type"]))) for script, p in parameters
    }
    facts["parameter defaults"] = {
        (script, _name(p), value(default))
        for script, p in parameters
        if (default := _default(p)) is not None
    }
    facts["parameter choices"] = {
        (script, _name(p), ", ".join(map(str, p["choices"])))
        for script, p in parameters
        if p["choices"]
    }
    _find_commands(facts, document)
    facts["imports"] = {(i["name"],) for i in document["imports"]}
    facts["distributions"] = {
        (i["name"], fold(i["distribution"]) if i["distribution"] else "unknown")
        for i in document["imports"]
    }
    facts["order"] = {(o["first"], o["then"]) for o in document["order"]}
    licence = document["licence"]
    _label_licence(facts, licence["spdx"] if licence else None)
    facts["results"] = {
        (table["source"], v["text"]) for table in document["results"] for v in table["values"]
    }
    _find_files(facts, document)
    _find_traits(facts, document)
    return facts


def _numbered(entry: Json) -> Iterator[dict[str, Any]]:
    """Yield the parameters of a script; words of ``sys.argv`` are called by their number."""
    number = 0
    for parameter in entry["parameters"]:
        if entry["parser"] == "sys.argv" and not parameter["flags"]:
            number += 1
            yield {**parameter, "name": str(number)}
        else:
            yield dict(parameter)


def _name(parameter: Json) -> str:
    """Return the name that a parameter is labelled by: its first long flag, or its first."""
    flags = [flag.rstrip("=") for flag in parameter["flags"]] or [parameter["name"]]
    name = next((flag for flag in flags if flag.startswith("--")), flags[0])
    return f"{parameter.get('subcommand') or ''} {name}".strip()


def _default(parameter: Json) -> object:
    default = parameter.get("default_text") or parameter["default"]
    return None if default in (None, "", "None") else default


def _find_commands(facts: Facts, document: Json) -> None:
    commands = [*document["commands"], *document.get("nested_commands", ())]
    kept = [c for c in commands if not is_silent(c["text"])]
    facts["commands"] = {(plain(c["text"]),) for c in kept}
    facts["command scripts"] = {(plain(c["text"]), _started(c)) for c in kept}
    facts["command kinds"] = {(plain(c["text"]), c.get("purpose") or c["kind"]) for c in kept}
    facts["unknown flags"] = {
        (said["script"], said["flag"])
        for problem in document["problems"]
        if problem["clause"] == "scan/unknown-flag"
        and (said := _UNKNOWN_FLAG.search(problem["message"]))
    }


def _started(command: Json) -> str:
    if command["target"]:
        return f"absent {command['target'].removeprefix('./')}"
    built = command["built_by"] if command.get("resolution") == "built" else None
    return str(command["script"] or built or "nothing")


def _find_files(facts: Facts, document: Json) -> None:
    for key, field in _LISTS.items():
        if key not in {"order", "seeds", "devices"} and key in document:
            facts[field] = {(pattern(_text(entry)),) for entry in document[key]}


def _find_traits(facts: Facts, document: Json) -> None:
    facts["downloads"] = {_download(entry["what"]) for entry in document["downloads"]}
    facts["seeds"] = {(entry["path"], entry["library"]) for entry in document["seeds"]}
    facts["devices"] = {
        (entry["path"], entry["text"]) for entry in document["devices"] if not entry["guarded"]
    }
    facts["gpu"] = {(document["gpu"]["need"],)}
    python = document["python"]
    _label_python(facts, {side: python[side] for side in ("minimum", "below")})
    facts["notebooks"] = set()
    for notebook in document["notebooks"]:
        if notebook["problem"] is None:
            counted = {**notebook, "errors": len(notebook["errors"])}
            _label_notebook(facts["notebooks"], counted)


def _download(what: str) -> tuple[str, ...]:
    """Return the address or the name of what is downloaded, without who does it."""
    return (pattern(what.rsplit(maxsplit=1)[-1]),)


def _text(entry: object) -> str:
    """Return what an entry of a list is about: an address, a text, a path or a name."""
    if isinstance(entry, Mapping):
        return str(next(entry[k] for k in ("text", "name", "path", "what") if k in entry))
    return str(entry)
