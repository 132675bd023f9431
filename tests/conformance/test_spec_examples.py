"""Every fenced example of the specification is what its tag says; an untagged one is a fault."""

from __future__ import annotations

import pytest

from tests.conformance.spec_examples import Example, fault_of, put, read_example, smallest
from tools.spec_text import Fence, read_page, read_pages

FENCES = [fence for page in read_pages() for fence in page.fences]
TAGGED = [(fence, read_example(fence)) for fence in FENCES]
EXAMPLES = [example for _, example in TAGGED if isinstance(example, Example)]


def place(example: Example) -> str:
    return f"{example.fence.page}:{example.fence.line}"


def test_every_block_is_tagged() -> None:
    faults = [f"{fence.page}:{fence.line}: {tag}" for fence, tag in TAGGED if isinstance(tag, str)]
    assert faults == []


@pytest.mark.parametrize("example", EXAMPLES, ids=place)
def test_example(example: Example) -> None:
    assert fault_of(example) == ""


def fence(info: str, text: str) -> Fence:
    (found,) = read_page(f"```{info}\n{text}```\n", "spec/v1/page.md").fences
    return found


def example_of(info: str, text: str) -> Example:
    found = read_example(fence(info, text))
    assert isinstance(found, Example)
    return found


@pytest.mark.parametrize(
    "info",
    [
        "",
        "yaml",
        "text example=valid",
        "toml example=valid document=manifest",
        "yaml example=right document=manifest",
        "yaml example=valid",
        "yaml example=valid document=manifesto",
        "yaml example=valid document=manifest clause=a/b",
        "yaml example=invalid document=manifest",
        "yaml example=invalid document=manifest fragment=manifest#/x clause=a/b",
        "yaml example=valid document=manifest document=manifest",
        "yaml example=valid document=manifest linenos",
        "json example=test",
    ],
)
def test_tags_that_are_refused(info: str) -> None:
    assert isinstance(read_example(fence(info, "{}\n")), str)


def test_plain_text_is_no_example() -> None:
    assert read_example(fence("text", "a → b\n")) is None


def test_a_fragment_stands_in_the_smallest_document() -> None:
    right = "yaml example=valid fragment=manifest#/keywords"
    assert fault_of(example_of(right, "[wine]\n")) == ""
    assert "keywords" in fault_of(example_of(right, "wine\n"))
    assert "unknown key" in fault_of(
        example_of("yaml example=valid fragment=manifest#/keyword", "[wine]\n")
    )


def test_an_invalid_example_breaks_the_clause_that_it_names() -> None:
    info = "yaml example=invalid document=manifest clause=documents/duplicate-key"
    assert fault_of(example_of(info, "rra: '1.0'\nrra: '1.0'\n")) == ""
    assert fault_of(example_of(info, "rra: [\n")) != ""
    fixed = "yaml example=invalid fragment=manifest#/keywords clause=documents/duplicate-key"
    assert fault_of(example_of(fixed, "[wine]\n")) == "it is valid"


def test_an_example_in_a_test_names_one_that_exists() -> None:
    here = "tests/conformance/test_spec_examples.py"
    name = "test_an_example_in_a_test_names_one_that_exists"
    assert fault_of(example_of(f"json example=test test={here}::{name}", "{}\n")) == ""
    assert "no test" in fault_of(example_of(f"json example=test test={here}::test_none", "{}\n"))
    assert "no file" in fault_of(example_of("json example=test test=tests/x.py::t", "{}\n"))


def test_pointers_make_the_maps_that_are_not_there() -> None:
    assert put({"a": [1, 2]}, "/b/c~1d", 3) == {"a": [1, 2], "b": {"c/d": 3}}
    assert put({"a": [1, 2]}, "/a/1", 3) == {"a": [1, 3]}
    assert put({"a": [1, 2]}, "/a/2", 3) == {"a": [1, 2, 3]}
    assert put({"a": 1}, "", 3) == 3


@pytest.mark.parametrize("document", ["manifest", "lock", "review"])
def test_documents_have_a_smallest_one(document: str) -> None:
    assert smallest(document)
