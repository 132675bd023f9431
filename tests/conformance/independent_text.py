"""A second reader of documents, written from the page *documents* of the specification alone.

`ruamel.yaml` cuts the text into events, and `json` reads JSON; what they mean, and what is refused,
is decided here. It shares no code with `rra`.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any, NoReturn

from ruamel.yaml import YAML

WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
WORDS |= {form(word): WORDS[word] for word in list(WORDS) for form in (str.title, str.upper)}
INTEGER, OTHER_BASE = re.compile(r"[-+]?[0-9]+"), re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
KNOWN_TAG = re.compile(r"!|tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)")
TEXT = (
    "\t\n\r -~\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
)


def need(fine: object, what: str) -> None:
    if not fine:
        raise ValueError(what)


def whole(text: str, base: int = 10) -> int:
    need(abs(int(text, base)) < 2**53, f"{text} is too large")
    return int(text, base)


def decimal(text: str) -> float:
    need(Decimal(text) == Decimal(repr(float(text))), f"{text} loses digits")
    return float(text)


def constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def members(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    need(all(isinstance(key, str) and key != "<<" for key, _ in pairs), "keys are text")
    need(len({key for key, _ in pairs}) == len(pairs), "a key is given twice")
    return dict(pairs)


def plain(text: str) -> Any:
    need(not NO_NUMBER.fullmatch(text), f"{text} is no number")
    if INTEGER.fullmatch(text) or OTHER_BASE.fullmatch(text):
        return whole(text, 0 if OTHER_BASE.fullmatch(text) else 10)
    return decimal(text) if FLOAT.fullmatch(text) else WORDS.get(text, text)


def scalar(event: Any) -> Any:
    """Return what a scalar stands for; with a tag, what the tag makes of it."""
    tag = (event.ctag and str(event.ctag)).removeprefix("tag:yaml.org,2002:") if event.ctag else ""
    if tag in {"!", "str"} or (event.style and not tag):
        text = event.value.encode("utf-16", "surrogatepass").decode("utf-16")
        need("\0" not in text, "U+0000")
        return text
    made = plain(event.value)
    kinds = {"int": int, "float": (int, float), "bool": bool, "null": type(None)}
    need(not tag or isinstance(made, kinds[tag]), f"{event.value} is no {tag}")  # type: ignore[arg-type]
    return float(made) if tag == "float" else made


def from_yaml(data: bytes) -> Any:
    text = data.decode("utf-8").removeprefix("\ufeff")
    need(len(data) <= 4 * 2**20 and not re.search(f"[^{TEXT}]", text), "size or characters")
    open_: list[list[Any]] = [[None, [], 0, 0]]
    anchors: dict[Any, Any] = {}
    documents, aliases, copied = 0, 0, 0
    for event in YAML(typ="safe", pure=True).parse(text):
        kind = type(event).__name__.removesuffix("Event")
        if kind == "DocumentStart":
            documents += 1
            need(documents == 1 and not event.tags, "one document, no %TAG")
            need(event.version in {None, (1, 2)}, "another version of YAML")
        if getattr(event, "ctag", None) is not None:
            need(KNOWN_TAG.fullmatch(str(event.ctag)), "an unknown tag")
        if kind in {"MappingStart", "SequenceStart"}:
            own = "map" if kind == "MappingStart" else "seq"
            fits = {"None", "!", f"tag:yaml.org,2002:{own}"}
            need(str(getattr(event, "ctag", None)) in fits, "a tag of another kind")
            open_.append([event, [], 1, 1])
            anchors[event.anchor] = None
            need(len(open_) <= 65, "nested too deep")
            continue
        if kind == "Scalar":
            made = anchors[event.anchor] = scalar(event), 1, 0
        elif kind == "Alias":
            need(anchors.get(event.anchor), "an alias of nothing, or inside its own anchor")
            made, aliases = anchors[event.anchor], aliases + 1
            copied += made[1]
            need(aliases <= 100 and copied <= 10_000, "too many aliases")
            need(len(open_) - 1 + made[2] <= 64, "nested too deep")
        elif kind in {"MappingEnd", "SequenceEnd"}:
            start, items, size, height = open_.pop()
            pairs = kind == "MappingEnd"
            whole_ = members(list(zip(items[::2], items[1::2], strict=True))) if pairs else items
            made = anchors[start.anchor] = whole_, size, height
        else:
            continue
        outer = open_[-1]
        outer[1].append(made[0])
        outer[2], outer[3] = outer[2] + made[1], max(outer[3], made[2] + 1)
    need(open_[0][1] and open_[0][1][0] is not None, "nothing in it")
    return open_[0][1][0]


def from_json(data: bytes) -> Any:
    text = data.decode("utf-8")
    made = json.loads(text, object_pairs_hook=members, parse_int=whole, parse_float=decimal,
                      parse_constant=constant)  # fmt: skip
    json.dumps(made, ensure_ascii=False).encode("utf-8")  # no lone surrogates
    level, inside = [made], list[Any]()
    for _ in range(65):
        inside = [one for one in level if isinstance(one, dict | list)]
        texts = [one for one in level if isinstance(one, str)]
        texts += [key for one in inside if isinstance(one, dict) for key in one]
        need(not any("\0" in text for text in texts), "U+0000")
        level = [i for one in inside for i in (one.values() if isinstance(one, dict) else one)]
    need(not inside, "nested too deep")
    return made
