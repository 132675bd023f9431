"""YAML 1.2 as the format reads it: plain data, and the place of every key and value.

The text is read once. The rules are those of the page *documents* of the specification; a fault
names its clause. `ruamel.yaml` cuts the text into events; what they mean is decided here.
"""

from __future__ import annotations

from rra._base.yaml.characters import MAX_BYTES, decode
from rra._base.yaml.compose import (
    MAX_ALIASES,
    MAX_COPIED,
    MAX_DEPTH,
    MAX_VALUES,
    compose_yaml,
)
from rra._base.yaml.document import (
    Key,
    Position,
    YamlDocument,
    json_pointer,
    parse_bytes,
    parse_yaml,
)
from rra._base.yaml.nodes import Node
from rra._base.yaml.write import double_quoted, scalar

__all__ = [
    "MAX_ALIASES",
    "MAX_BYTES",
    "MAX_COPIED",
    "MAX_DEPTH",
    "MAX_VALUES",
    "Key",
    "Node",
    "Position",
    "YamlDocument",
    "compose_yaml",
    "decode",
    "double_quoted",
    "json_pointer",
    "parse_bytes",
    "parse_yaml",
    "scalar",
]
