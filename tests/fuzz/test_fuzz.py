"""What fuzzing begins with and what it found, some changes of it by chance, and made-up inputs.

`tools/fuzz.py` goes on where this ends. Nothing here is random: each run has the same inputs.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rra.bundle.names import printable
from rra.errors import ArchiveError, InternalError
from tests.fuzz.harnesses import HARNESSES, SECRET, FaultError, ground, judged, sweep
from tests.fuzz.mutation import mutated
from tests.fuzz.seeds import CORPUS, SEEDS, corpus, manifest_of
from tests.support.archives import header, member, padded, pax, record, tar
from tests.support.source import ROOT

MUTATIONS = 400
MEMORY = 24 << 20
"""Bytes that reading one input of the corpus may take; the largest has 5 KiB."""


@pytest.fixture(scope="module", autouse=True)
def swept() -> Iterator[None]:
    yield
    sweep()


@pytest.mark.parametrize("harness", HARNESSES)
def test_the_corpus_is_judged_in_bounded_memory(harness: str) -> None:
    call = HARNESSES[harness]
    for name, data in corpus(harness).items():
        tracemalloc.start()
        accepted = call(data)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < MEMORY, name
        if name.startswith("good-"):
            assert accepted, name


@pytest.mark.parametrize("harness", HARNESSES)
def test_the_corpus_is_the_seeds_and_what_was_found(harness: str) -> None:
    names = {name for name in corpus(harness) if not name.startswith("crash-")}
    assert names == {name for name, _ in SEEDS[harness]()}
    assert sum(len(data) for data in corpus(harness).values()) < 150_000


@pytest.mark.parametrize("harness", HARNESSES)
def test_changes_by_chance(harness: str) -> None:
    call, seeds = HARNESSES[harness], list(corpus(harness).values())
    chance = random.Random(harness)
    for _ in range(MUTATIONS):
        data = mutated(harness, chance.choice(seeds), seeds, chance)
        call(data)


# ------------------------------------------------------------------------ made-up inputs

WORDS = ["a", "b", "..", ".", "", "A", "é", "con", "x" * 120]
NAMES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.lists(
        st.sampled_from(["a", "b", "..", ".", "", "A", "é", "con", "x" * 120]), max_size=6
    ).map("/".join),
)
NUMBERS = st.one_of(st.integers(0, 2000), st.binary(max_size=12), st.just(b"77777777777"))


@st.composite
def members(draw: st.DrawFn) -> bytes:
    """A member in the dress of the format, with at most a few things that are not."""
    kind = draw(st.sampled_from([b"0", b"0", b"0", b"5", b"2", b"1", b"x", b"g", b"3", b"L"]))
    name, target = draw(NAMES), draw(NAMES)
    content = draw(st.binary(max_size=600)) if kind == b"0" else b""
    if kind == b"5":
        name += "/"
    if kind in {b"x", b"g"}:
        keys = st.sampled_from(["path", "linkpath", "size", "uid", "hdrcharset"])
        records = draw(st.lists(st.tuples(keys, NAMES), max_size=3))
        return pax(b"".join(record(key, value) for key, value in records), kind=kind)
    if draw(st.integers(0, 5)):
        return member(name, content, kind=kind, target=target if kind == b"2" else "")
    mode = draw(st.sampled_from([None, 0, 0o755, 0o777, 0o4755]))
    size = draw(NUMBERS)
    field = draw(st.sampled_from(["uid", "mtime", "uname", "prefix", "padding", "devmajor"]))
    other = {field: draw(st.binary(max_size=8))}
    return header(name, kind=kind, size=size, mode=mode, target=target, **other) + padded(content)


@settings(max_examples=300)
@given(st.lists(members(), max_size=5), st.binary(max_size=600))
@example([member("a", b"x")], b"")
@example([member("../pwn", b"x")], bytes(512))
def test_tars_of_any_members(made: list[bytes], rest: bytes) -> None:
    HARNESSES["tar"](tar(*made) + rest)
    HARNESSES["tar"](tar(*made))
    HARNESSES["archive"](tar(*made))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["../x", "sha256:" + "0" * 64, "\x1b[2J", "application/vnd.rra.meta.v1.tar"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a document: the container and the key."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


def changed(data: bytes, draw: st.DataObject) -> bytes:
    """Return a document with up to three of its values replaced, renamed or gone."""
    document = json.loads(data)
    for _ in range(draw.draw(st.integers(1, 3))):
        found = list(places(document))
        if not found:
            break
        container, key = found[draw.draw(st.integers(0, len(found) - 1))]
        how = draw.draw(st.sampled_from(["replace", "replace", "remove", "rename"]))
        if how == "replace":
            container[key] = draw.draw(JSON)
        elif how == "remove":
            del container[key]
        elif isinstance(container, dict):
            container[draw.draw(st.text(max_size=6))] = container.pop(key)
    return json.dumps(document).encode()


@pytest.mark.parametrize("harness", ["index", "manifest", "config", "signature"])
@settings(max_examples=200)
@given(st.data())
def test_documents_with_any_values(harness: str, data: st.DataObject) -> None:
    good = {name: found for name, found in corpus(harness).items() if name.startswith("good-")}
    HARNESSES[harness](changed(good[data.draw(st.sampled_from(sorted(good)))], data))


PARTS = [
    "oci-layout:",
    "oci-archive:",
    "r.example",
    ":5000",
    "/",
    "a",
    ":1.0",
    "@",
    "..",
    "#",
    "sha256:",
    "https://",
    "localhost",
]
PARTS += ["0" * 64, "[::1]", "+cu1", "_", "x" * 300]


@settings(max_examples=400)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=5),
            st.sampled_from(PARTS),
        ),
        max_size=8,
    ).map("".join)
)
@example("r.example/" + "a" * 300)
@example("a" * 5000)
@example("oci-archive:" + "a/" * 3000)
def test_references_of_any_parts(text: str) -> None:
    HARNESSES["reference"](text.encode("utf-8", "surrogatepass"))


# ------------------------------------------------------------------- do the harnesses see it?


def test_a_change_beside_the_target_is_noticed() -> None:
    place = ground()
    secret = place.root / "victim" / "secret"
    with pytest.raises(FaultError, match="beside the target"), place.fresh():
        secret.write_bytes(b"overwritten!\n")
    secret.write_bytes(SECRET)
    with pytest.raises(FaultError, match="beside the target"), place.fresh():
        (place.root / "new").touch()
    (place.root / "new").unlink()


def test_other_errors_and_messages_that_steer_are_faults() -> None:
    def raising(error: Exception) -> Callable[[bytes], bool]:
        def read(data: bytes) -> bool:
            raise error

        return judged(read)

    with pytest.raises(ValueError, match="any"):
        raising(ValueError("any"))(b"")
    with pytest.raises(FaultError, match="fit"):
        raising(ArchiveError("a\x1b[2J", hint=""))(b"")
    with pytest.raises(FaultError, match="ours"):
        raising(InternalError("a", hint=""))(b"")
    assert not raising(ArchiveError(printable("a\x1b[2J"), hint=""))(b"")


def test_the_manifest_of_a_config_fits_it() -> None:
    for name, data in corpus("config").items():
        if name.startswith("good-"):
            assert HARNESSES["manifest"](manifest_of(data)), name


def test_the_tool_runs_a_harness_without_anything_to_install() -> None:
    argv = [sys.executable, str(ROOT / "tools" / "fuzz.py"), "reference"]
    argv += ["--engine", "mutations", "--seconds", "0.2"]
    run = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 kinds of fault" in run.stdout
    assert CORPUS.is_dir()
