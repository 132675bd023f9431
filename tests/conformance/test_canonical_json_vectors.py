"""The vectors of canonical JSON: our writer, a second one written from the page, and sha256sum."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from rra._base import canonical
from rra.artifact.checking import check_bytes
from rra.errors import FormatError
from tests.conformance.plain_json import canonical_text
from tests.support.needs import needs

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "schemas/conformance/v1/vectors/canonical-json"
NAMES = sorted(path.name.removesuffix(".in.json") for path in VECTORS.glob("*.in.json"))
REFUSED = sorted((VECTORS / "refused").glob("*.json"))
SHORTEST = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-][1-9][0-9]*)?")


def read(text: str) -> Any:
    """Parse JSON; a name given twice and words for what is no number are refused."""
    return json.loads(text, object_pairs_hook=_members, parse_constant=_word)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name is given twice")
    return dict(pairs)


def _word(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


@pytest.mark.clause("canonical-json/no-space")
@pytest.mark.clause("canonical-json/literals")
@pytest.mark.clause("canonical-json/member-order")
@pytest.mark.clause("canonical-json/numbers")
@pytest.mark.clause("canonical-json/strings")
@pytest.mark.clause("canonical-json/no-normalisation")
@pytest.mark.clause("canonical-json/utf-8")
@pytest.mark.parametrize("name", NAMES)
def test_our_writer_and_the_one_of_the_page_give_the_vector(name: str) -> None:
    value = read((VECTORS / f"{name}.in.json").read_text("utf-8"))
    wanted = (VECTORS / f"{name}.out.json").read_bytes()
    assert canonical.dumps(value) == wanted
    assert canonical_text(value).encode() == wanted
    assert canonical.dumps(read(wanted.decode())) == wanted


@pytest.mark.clause("canonical-json/digest")
def test_the_digests_are_those_of_sha256sum() -> None:
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "digests.txt"],
        cwd=VECTORS,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count(": OK") == len(NAMES)
    for line in (VECTORS / "digests.txt").read_text().splitlines():
        digest, name = line.split("  ")
        value = read((VECTORS / name).read_text("utf-8"))
        assert canonical.digest(value) == f"sha256:{digest}"


@pytest.mark.clause("canonical-json/integers")
@pytest.mark.clause("canonical-json/finite")
@pytest.mark.clause("canonical-json/unicode")
@pytest.mark.clause("canonical-json/unique-names")
@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_what_has_no_form_is_refused(path: Path) -> None:
    with pytest.raises((ValueError, rfc8785.CanonicalizationError)):
        canonical.dumps(read(path.read_text("utf-8")))
    with pytest.raises(ValueError, match=r"."):
        canonical_text(read(path.read_text("utf-8")))


@needs("node")
@pytest.mark.parametrize("name", NAMES)
def test_a_javascript_engine_writes_the_same(name: str) -> None:
    script = (
        "const form = v => Array.isArray(v) ? '[' + v.map(form).join() + ']'"
        " : v !== null && typeof v === 'object' ? '{' + Object.keys(v).sort().map("
        "k => JSON.stringify(k) + ':' + form(v[k])).join() + '}' : JSON.stringify(v);"
        "let t = ''; process.stdin.on('data', d => t += d);"
        "process.stdin.on('end', () => process.stdout.write(form(JSON.parse(t))));"
    )
    text = (VECTORS / f"{name}.in.json").read_bytes()
    done = subprocess.run(["node", "-e", script], input=text, capture_output=True, check=True)
    assert done.stdout == (VECTORS / f"{name}.out.json").read_bytes()


def fences(page: str) -> list[str]:
    text = (ROOT / "spec/v1" / page).read_text("utf-8")
    return re.findall(r"^```json example=test [^\n]*\n(.*?)\n```", text, re.MULTILINE | re.DOTALL)


def test_the_example_of_the_page() -> None:
    given, form = fences("canonical-json.md")
    assert canonical.dumps(read(given)).decode() == form
    assert canonical_text(read(given)) == form
    assert form == (VECTORS / "page.out.json").read_text("utf-8")


@pytest.mark.clause("canonical-json/file-end")
@pytest.mark.parametrize("end", [b"", b"\n\n", b" \n", b"\r\n"])
def test_a_file_ends_with_one_line_feed(end: bytes) -> None:
    lock = ROOT / "schemas/conformance/v1/valid/core-digest/worked/rra.lock"
    content = lock.read_bytes()
    assert check_bytes(content, "lock", source="rra.lock").ok
    checked = check_bytes(content.removesuffix(b"\n") + end, "lock", source="rra.lock")
    assert [problem.clause for problem in checked.errors] == ["lock/canonical"]


def test_numbers_are_the_shortest_text_of_their_double() -> None:
    for number in (0.1 + 0.2, 1 / 3, 2**-1074, 123456789012345680.5 / 2**40, 1e-7, 4.35, 0.5e-5):
        text = canonical.dumps(number).decode()
        assert float(text) == number
        assert SHORTEST.fullmatch(text)
        assert canonical_text(number) == text


def test_a_document_with_a_huge_whole_number_is_refused() -> None:
    with pytest.raises((rfc8785.CanonicalizationError, FormatError)):
        canonical.dumps({"a": [1e300]})
