"""Write, or check, everything in this repository that is made from the code.

``--write`` writes the files, ``--check`` (the default) names those that differ and ends with 1:

- ``docs/reference/rules/``: one page for each lint rule, from its docstring
- ``docs/reference/cli/``: one page for each verb, from its help
- ``docs/reference/errors.md``, ``words.md``: errors, verdicts and levels, from what
  ``rra explain`` knows
- ``docs/reference/format/``: one page for each document of the format, from its JSON Schema
- ``docs/reference/scan.md``: what ``rra scan`` writes, from its schema
- ``docs/reference/api.md``: the functions of ``rra.api``, from their signatures and docstrings
- ``schemas/editor/``: the schemas for editors, from those of the format
- ``README.md``: the help text between its markers
- ``spec/v1/clauses.md``: where each clause of the specification is checked; a clause without a
  check is a fault, and so is everything else that `tools.clause_map` finds
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import click

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
README = ROOT / "README.md"
HELP_WIDTH = 78
DOCUMENT = "The document"
MARKED = re.compile(
    r"(?P<begin><!-- begin: rra --help, written by tools/gen.py -->\n).*?(?P<end><!-- end -->)",
    re.DOTALL,
)
NOTE = "<!-- written by tools/gen.py; change the code and run make generate -->\n\n"

Files = dict[Path, str]
Json = dict[str, Any]


# ------------------------------------------------------------------------------------ rules


def rule_pages() -> Files:
    """Return the page of each rule and their index."""
    from rra.lint import pages, rule

    files: Files = {}
    rows = []
    for code, found in rule.rules().items():
        files[REFERENCE / "rules" / f"{code}.md"] = NOTE + pages.render_page(found).rstrip() + "\n"
        rows.append(
            f"| [{code}]({code}.md) | {found.name} | {found.severity} "
            f"| {found.profile} | {found.fix} |"
        )
    index = [
        "# Lint rules",
        "",
        "`rra lint` applies them; `rra explain CODE` prints the page of one.",
        "",
        "| code | name | severity | profile | fix |",
        "|---|---|---|---|---|",
        *rows,
        "",
        toctree(sorted(path.stem for path in files)),
    ]
    files[REFERENCE / "rules" / "index.md"] = NOTE + "\n".join(index)
    return files


# -------------------------------------------------------------------------------------- cli


def help_text(command: click.Command, name: str) -> str:
    """Return what ``<name> --help`` prints on a terminal of 80 columns."""
    import click

    from rra.cli.main import group

    settings = {**group.context_settings, "terminal_width": HELP_WIDTH}
    context = click.Context(command, info_name=name, **settings)
    lines = command.get_help(context).splitlines()
    return "\n".join(line.rstrip() for line in lines)


def verbs(group: click.Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
    """Yield the full name and the command of each verb, those of nested groups too."""
    import click

    context = click.Context(group, info_name=prefix)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        yield f"{prefix} {name}", command
        if isinstance(command, click.Group):
            yield from verbs(command, f"{prefix} {name}")


def command_pages() -> Files:
    """Return the page of each verb and their index."""
    from rra.cli.main import group

    files: Files = {}
    rows = []
    for name, command in verbs(group, "rra"):
        words = name.split()[1:]
        page = REFERENCE / "cli" / f"{'-'.join(words)}.md"
        files[page] = f"{NOTE}# {name}\n\n```text\n{help_text(command, name)}\n```\n"
        rows.append(f"| [`{name}`]({page.name}) | {command.get_short_help_str(120)} |")
    index = [
        "# Command line",
        "",
        "```text",
        help_text(group, "rra"),
        "```",
        "",
        "| verb | what it does |",
        "|---|---|",
        *rows,
        "",
        toctree(page.stem for page in files),
    ]
    files[REFERENCE / "cli" / "index.md"] = NOTE + "\n".join(index)
    return files


def readme() -> Files:
    """Return README.md with the present help text between its markers."""
    from rra.cli.main import group

    text = README.read_text(encoding="utf-8")
    if not MARKED.search(text):
        sys.exit("README.md has lost the markers of its help text")
    block = f"```text\n{help_text(group, 'rra')}\n```\n"
    return {README: MARKED.sub(lambda found: found["begin"] + block + found["end"], text)}


# ----------------------------------------------------------------------------------- format


def kind_of(schema: Json) -> str:
    """Return the type of a value in words, with a link to the section that describes it."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    for word in ("oneOf", "anyOf"):
        if word in schema:
            return " or ".join(dict.fromkeys(kind_of(choice) for choice in schema[word]))
    kinds = schema.get("type", "any value")
    if kinds == "array":
        return f"list of {kind_of(schema.get('items', {}))}"
    if kinds == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"map of {kind_of(schema['additionalProperties'])}"
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def cell(text: str) -> str:
    """Return a text that can stand in a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "\\<")


def written_inside(schema: Json) -> Json:
    """Return the object that a value is, or holds as item or entry, where it has keys."""
    for choice in (schema, schema.get("items"), schema.get("additionalProperties")):
        if isinstance(choice, dict) and "properties" in choice:
            return choice
    return {}


def sections(name: str, schema: Json, level: int) -> Iterator[str]:
    """Yield the section of an object, and those of the objects written inside it."""
    properties = schema.get("properties", {})
    yield f"{'#' * level} {name}\n"
    if "description" in schema and name != DOCUMENT:
        yield cell(schema["description"]) + "\n"
    if not properties:
        yield f"{kind_of(schema)}\n"
        return
    required = schema.get("required", [])
    yield "| key | value | |\n|---|---|---|"
    for key, value in properties.items():
        about = cell(value.get("description", ""))
        must = "**required.** " if key in required else ""
        yield f"| `{key}` | {kind_of(value)} | {must}{about} |"
    yield ""
    for key, outer in properties.items():
        value = written_inside(outer)
        if value:
            inner = key if name == DOCUMENT else f"{name}.{key}"
            yield from sections(inner, value, min(level + 1, 4))


def format_pages() -> Files:
    """Return the page of each schema and their index."""
    files: Files = {}
    rows = []
    for path in sorted((ROOT / "schemas" / "v1").glob("*.schema.json")):
        schema: Json = json.loads(path.read_text(encoding="utf-8"))
        name = path.name.removesuffix(".schema.json")
        parts = [f"# {schema['title']}\n", cell(schema.get("description", "")) + "\n"]
        parts.append(f"Schema: `schemas/v1/{path.name}`, `{schema['$id']}`\n")
        if "properties" in schema:
            parts += [*sections(DOCUMENT, schema, 2)]
        else:
            parts.append(f"The document is a {kind_of(schema)}.\n")
            if written_inside(schema):
                parts += sections("Each entry", written_inside(schema), 2)
        for word, definition in sorted(schema.get("$defs", {}).items()):
            parts += sections(word, definition, 2)
        files[REFERENCE / "format" / f"{name}.md"] = NOTE + "\n".join(parts).rstrip() + "\n"
        rows.append(f"| [{schema['title']}]({name}.md) | {cell(schema.get('description', ''))} |")
    index = [
        "# Format",
        "",
        "Every document of the format, from its JSON Schema. Keys that a schema does not know are",
        "kept, written back, and warned about; `x-…` is free.",
        "",
        "| document | what it is |",
        "|---|---|",
        *rows,
        "",
        toctree([page.stem for page in files]),
    ]
    files[REFERENCE / "format" / "index.md"] = NOTE + "\n".join(index)
    return files


def scan_page() -> Files:
    """Return the page of the document that ``rra scan --output`` writes."""
    schema: Json = json.loads((ROOT / "schemas" / "cli" / "scan.schema.json").read_text("utf-8"))
    definitions = schema["$defs"]
    parts = [
        "# What a scan finds\n",
        "`rra scan --output scan.json` writes this document; with `--json` it stands in",
        "`result.scan`. Schema: the `scan` of `schemas/cli/scan.schema.json`.\n",
        *sections(DOCUMENT, definitions["scan"], 2),
    ]
    for word, definition in sorted(definitions.items()):
        if word not in {"scan", "result"}:
            parts += sections(word, definition, 2)
    return {REFERENCE / "scan.md": NOTE + "\n".join(parts).rstrip() + "\n"}


# ------------------------------------------------------------------------------- errors, api


def error_page() -> Files:
    """Return the page that lists the errors: slug, class, exit code, what to do."""
    from rra import errors
    from rra.report.words import catalogue

    classes = [errors.RraError]
    for parent in classes:
        classes += parent.__subclasses__()
    known = catalogue()
    page = [
        "# Errors",
        "",
        "The slug stands behind each message and in the `--json` output; `rra explain SLUG`",
        "explains it. What the exit codes mean is on [their own page](exit-codes.md).",
        "",
    ]
    for kind in classes:
        if kind.__module__ != errors.__name__ or kind is errors.RraError:
            continue
        word = known[kind.slug]
        page += [f"## {kind.slug}", "", word.meaning, "", f"**What to do:** {word.next}", ""]
        page += [f"Exit code {kind.exit_code}; `rra.errors.{kind.__name__}` in Python.", ""]
    return {REFERENCE / "errors.md": NOTE + "\n".join(page)}


def word_page() -> Files:
    """Return the page of the words that judge: verdicts, evidence levels, levels."""
    from rra.report.words import catalogue

    page = ["# Verdicts and levels", "", "`rra explain WORD` prints any of these.", ""]
    kind = ""
    for word in catalogue().values():
        if word.kind == "error":
            continue
        if word.kind != kind:
            kind = word.kind
            page += [f"## {kind[0].upper()}{kind[1:]}", ""]
        page += [f"### {word.word}", "", word.meaning, "", f"**What to do:** {word.next}", ""]
    return {REFERENCE / "words.md": NOTE + "\n".join(page)}


def header(function: Callable[..., object]) -> str:
    """Return the head of a function as its source has it, without decorators."""
    source = textwrap.dedent(inspect.getsource(function))
    node = ast.parse(source).body[0]
    if not isinstance(node, ast.FunctionDef):
        raise TypeError(f"{function!r} is no plain function")
    return "\n".join(source.splitlines()[node.lineno - 1 : node.body[0].lineno - 1])


def api_page() -> Files:
    """Return the page with the functions of ``rra.api``."""
    api = importlib.import_module("rra.api")
    parts = [
        "# Python functions",
        "",
        "One function for each verb, in `rra.api`. Each returns a frozen result, raises the errors",
        "of `rra.errors`, and prints nothing.",
        "",
    ]
    for name in sorted(api.__all__):
        value = getattr(api, name)
        if not inspect.isfunction(value):
            continue
        doc = inspect.getdoc(value) or ""
        parts += [f"## {name}", "", "```python", header(value), "```", ""]
        parts += ["```text", doc, "```", ""]
    return {REFERENCE / "api.md": NOTE + "\n".join(parts)}


# ------------------------------------------------------------------------------------ clauses


def clause_page() -> tuple[Files, tuple[str, ...]]:
    """Return the table of the clauses, and what is wrong with them."""
    sys.path.insert(0, str(ROOT))
    from tools import clause_map

    found = clause_map.clause_map()
    return {clause_map.TABLE: clause_map.render(found)}, found.faults


# -------------------------------------------------------------------------------------- main


def toctree(names: Iterator[str] | list[str]) -> str:
    """Return a hidden MyST table of contents."""
    return "\n".join(["```{toctree}", ":hidden:", "", *names, "```", ""])


def wanted() -> Files:
    """Return every generated file with the text it should have."""
    files: Files = {}
    makers = (rule_pages, command_pages, format_pages, scan_page, word_page, error_page, api_page)
    for make in (*makers, readme):
        files |= make()
    return files | editor_files()


def editor_files() -> Files:
    """Return the schemas for editors, made from those of the format."""
    sys.path.insert(0, str(ROOT))
    module = importlib.import_module("tools.editor_schema")
    made: Files = module.editor_files()
    return made


def left_over(files: Files) -> list[Path]:
    """Return pages in the generated folders that nothing stands behind any more."""
    folders = [REFERENCE / name for name in ("rules", "cli", "format")]
    return sorted(path for folder in folders for path in folder.glob("*.md") if path not in files)


def main() -> int:
    """Check or write; return 1 when something differs."""
    parser = argparse.ArgumentParser(description="Check or write the generated files.")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="name what differs (the default)")
    choice.add_argument("--write", action="store_true", help="write the files")
    write = parser.parse_args().write
    table, faults = clause_page()
    files = wanted() | table
    stale = left_over(files)
    for path, text in files.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(path)
            if write:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    for path in stale:
        if write and path not in files:
            path.unlink()
        print(f"{'wrote' if write else 'differs'}: {path.relative_to(ROOT)}")
    if stale and not write:
        print("run: make generate", file=sys.stderr)
    for fault in faults:
        print(fault)
    if faults:
        print(f"{len(faults)} faults in the clauses of the specification", file=sys.stderr)
    return 1 if faults or (stale and not write) else 0


if __name__ == "__main__":
    sys.exit(main())
