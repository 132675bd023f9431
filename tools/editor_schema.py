"""Make the schemas for editors in ``schemas/editor/`` from those of the format.

They decide as the published schemas do, word for word; what changes is what editors need: one
self-contained draft-07 file for each document, ``definitions`` in place of ``$defs``, the text
that hovering shows, with a link to the clause, and messages that say what to do. ``tools/gen.py``
writes and checks them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "schemas" / "v1"
TARGET = ROOT / "schemas" / "editor"
BASE = "https://w3id.org/rra/v1/"
DRAFT = "http://json-schema.org/draft-07/schema#"
COMMENT = "Written by tools/gen.py from schemas/v1; change the schema there."

#: Where each document lies, where that is a name that no other tool uses for something else.
FILES = {"manifest": ["rra.yaml"]}

#: Keywords below which subschemas stand, and those that hold maps of subschemas.
NAMED = {"$defs", "patternProperties", "properties"}
NESTED = {
    *("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"),
    *("allOf", "anyOf", "oneOf"),
}

Json = dict[str, Any]


def link_of(clause: str) -> str:
    """Return the Markdown link to the page of a clause, such as ``manifest/version-is-text``."""
    page, _, slug = clause.partition("/")
    return f"[{clause}]({BASE}spec/{page}#{slug})"


def clauses_of(said: str | Json) -> list[str]:
    """Return the clauses that an ``x-clause`` names, each once, in order."""
    return list(dict.fromkeys([said] if isinstance(said, str) else said.values()))


def hover_text(schema: Json, definitions: Json) -> str:
    """Return the description of a subschema in Markdown, followed by links to its clauses."""
    meant = definitions.get(schema.get("$ref", "").removeprefix("#/$defs/"), {})
    text = schema.get("description", meant.get("description", "")).replace("<", "&lt;")
    clauses = clauses_of(schema.get("x-clause", meant.get("x-clause", {})))
    links = ", ".join(link_of(clause) for clause in clauses)
    return "\n\n".join(part for part in (text, links) if part)


def rewritten(schema: Any, definitions: Json) -> Any:
    """Return a subschema as draft-07, with what an editor shows.

    Args:
        schema: A subschema of 2020-12, a list of them, or a boolean.
        definitions: What its references lead to.
    """
    if isinstance(schema, list):
        return [rewritten(inner, definitions) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    made: Json = {}
    for key, value in schema.items():
        if key == "deprecated":
            made["deprecationMessage"] = schema.get("description", "deprecated")
        elif key != "x-clause":
            made["definitions" if key == "$defs" else key] = _keyword(key, value, definitions)
    if schema.get("type") == "string" and "enum" not in schema:
        made["errorMessage"] = "Text is expected; what looks like a number needs quotes."
    if "pattern" in schema:
        made["patternErrorMessage"] = f"Does not fit. {schema.get('description', '')}".strip()
    text = hover_text(schema, definitions)
    return made | {"markdownDescription": text} if text else made


def _keyword(key: str, value: Any, definitions: Json) -> Any:
    """Return the value of a keyword as draft-07 has it."""
    if key == "$ref":
        return value.replace("#/$defs/", "#/definitions/")
    if key in NAMED:
        return {name: rewritten(inner, definitions) for name, inner in value.items()}
    return rewritten(value, definitions) if key in NESTED else value


def editor_schema(schema: Json) -> Json:
    """Return the schema for editors of a published schema."""
    body = rewritten(schema, schema.get("$defs", {}))
    head = {
        "$schema": DRAFT,
        "$id": schema["$id"].replace(BASE, f"{BASE}editor/"),
        "$comment": COMMENT,
    }
    return head | {key: value for key, value in body.items() if key not in head}


def catalog(schemas: dict[str, Json]) -> Json:
    """Return the entries for the catalog of SchemaStore, which editors ask by file name."""
    entries = []
    for name, schema in schemas.items():
        entry: Json = {"name": schema["title"], "description": schema["description"]}
        if name in FILES:
            entry["fileMatch"] = FILES[name]
        entries.append(entry | {"url": schema["$id"]})
    return {
        "$schema": "https://www.schemastore.org/schema-catalog.json",
        "version": 1,
        "schemas": entries,
    }


def written(value: Json) -> str:
    """Return JSON as the files have it."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def editor_files() -> dict[Path, str]:
    """Return every file of ``schemas/editor/`` with the text it should have."""
    made = {
        path.name.removesuffix(".schema.json"): editor_schema(
            json.loads(path.read_text(encoding="utf-8"))
        )
        for path in sorted(SOURCE.glob("*.schema.json"))
    }
    files = {TARGET / f"{name}.schema.json": written(schema) for name, schema in made.items()}
    return files | {TARGET / "catalog.json": written(catalog(made))}
