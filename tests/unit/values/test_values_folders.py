"""Selectors in notebooks, TensorBoard event files and MLflow file stores."""

from __future__ import annotations

import base64
import json
import math
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from rra._base.files import sha256_file
from rra.errors import SelectError, UnsafePathError
from rra.values.readers import tensorboard
from rra.values.selectors import Selected, select
from tests.unit.values.test_values_selectors import refused, selector, write


def cell(source: str, *outputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    ran = {"execution_count": 1, "outputs": list(outputs), "metadata": {}}
    return {"cell_type": "code", "source": source, **ran, **more}


def printed(text: str | list[str], name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [
        {"cell_type": "markdown", "id": "m", "metadata": {}, "source": "# Results"},
        cell(
            "score()",
            printed("slow\n", "stderr"),
            printed(["epoch 1: 0.50\n", "epoch 2: 0.750\n"]),
            {"output_type": "execute_result", "data": {"text/plain": ["0.98\n", "done"]}},
            id="a1",
            metadata={"tags": ["results", "both"]},
        ),
        cell("n", printed("178\n"), id="b2", metadata={"tags": ["both"]}),
        cell("1/0", {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "oh"}, id="c"),
        cell("later", execution_count=None, id="d"),
        cell("quiet", id="e"),
    ],
}


def from_cell(folder: Path, **locator: Any) -> Selected:
    write(folder, "n.ipynb", json.dumps(NOTEBOOK))
    pick = {"pick": locator.pop("pick")} if "pick" in locator else {}
    return select(folder, selector("n.ipynb", cell=locator, **pick))


EPOCH = r"epoch (?P<step>\d): (?P<value>[0-9.]+)"


@pytest.mark.parametrize("name", [{"tag": "results"}, {"id": "a1"}, {"index": 1}])
def test_a_cell_is_found_by_tag_id_or_index(tmp_path: Path, name: dict[str, Any]) -> None:
    found = from_cell(tmp_path, regex=EPOCH, pick="last", **name)
    assert (found.text, found.candidates) == ("0.750", 2)
    assert found.place == "cell 1, line 2 of its output"
    assert found.file == "n.ipynb"


def test_the_whole_text_of_a_cell_is_its_value(tmp_path: Path) -> None:
    assert from_cell(tmp_path, id="b2").value == Decimal(178)


def test_a_step_is_picked_by_the_name_of_its_group(tmp_path: Path) -> None:
    assert from_cell(tmp_path, id="a1", regex=EPOCH, pick={"at": {"step": 1}}).text == "0.50"


def test_standard_error_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(SelectError, match="nothing in"):
        from_cell(tmp_path, id="a1", regex="(?P<value>slow)")


@pytest.mark.parametrize(
    ("locator", "said"),
    [
        ({"index": 9}, "has 6 cells; there is no cell 9"),
        ({"tag": "result"}, "no cell with the tag 'result'"),
        ({"tag": "both"}, "2 cells of n.ipynb have the tag 'both': 1, 2"),
        ({"index": 0}, "cell 0 is a markdown cell"),
        ({"id": "c"}, "cell 3 ended with ZeroDivisionError: oh"),
        ({"id": "d"}, "cell 4 was not run"),
        ({"id": "e"}, "cell 5 left no text"),
        ({"id": "a1"}, "is not a number"),
        ({"id": "a1", "regex": EPOCH}, "2 places match in n.ipynb"),
    ],
)
def test_what_a_cell_does_not_give_is_said(
    tmp_path: Path, locator: dict[str, Any], said: str
) -> None:
    with pytest.raises(SelectError) as caught:
        from_cell(tmp_path, **locator)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"worksheets": []}', '{"cells": [1]}'])
def test_what_is_no_notebook_is_said(tmp_path: Path, text: str) -> None:
    write(tmp_path, "n.ipynb", text)
    assert "notebook" in str(refused(tmp_path, selector("n.ipynb", cell={"index": 0})))


# ------------------------------------------------------------------------- event files


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    parts = []
    while True:
        number, low = number >> 7, number & 0x7F
        parts.append(low | (0x80 if number else 0))
        if not number:
            return bytes(parts)


def field(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def event(step: int, tag: str, body: bytes) -> bytes:
    value = field(1, field(1, tag.encode()) + body)
    data = b"\x09" + struct.pack("<d", 1.5e9) + field(2, step) + field(5, value)
    head = struct.pack("<Q", len(data))
    sums = [struct.pack("<I", tensorboard._masked(part)) for part in (head, data)]
    return head + sums[0] + data + sums[1]


def simple(value: float) -> bytes:
    return b"\x15" + struct.pack("<f", value)


def tensor(kind: int, body: bytes) -> bytes:
    return field(8, field(1, kind) + body)


EVENTS = "events.out.tfevents.1.host"
ACCURACY = selector("run", tensorboard={"tag": "val/acc"}, pick={"at": {"step": 1000}})

WRITTEN_BY_TENSORBOARDX = (
    "GAAAAAAAAACjf0siCUyJV0Viw9pBGg1icmFpbi5FdmVudDoydK4NphsAAAAAAAAAGg2eEwn8k1dFYsPaQSoQCg4K"
    "B3ZhbC9hY2MVzczMPU5ure8dAAAAAAAAAGAv3yMJJptXRWLD2kEQASoQCg4KB3ZhbC9hY2MVMzNzP9anOLgdAAAA"
    "AAAAAGAv3yMJF6lXRWLD2kEQAioQCg4KB3ZhbC9hY2MVAADAfwvnuos="
)
"""Tag ``val/acc``: 0.1 at step 0, 0.95 at step 1, NaN at step 2."""


def test_the_checksum_is_that_of_tfrecord() -> None:
    """CRC-32C of RFC 3720 B.4 for 32 bytes of zero, masked as TensorFlow's crc32c.h says."""
    crc = 0x8A9136AA
    assert tensorboard._masked(bytes(32)) == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_a_file_of_another_writer_is_read(tmp_path: Path) -> None:
    write(tmp_path, f"run/{EVENTS}", base64.b64decode(WRITTEN_BY_TENSORBOARDX))
    chosen = selector("run", tensorboard={"tag": "val/acc"}, pick={"at": {"step": 1}})
    found = select(tmp_path, chosen)
    assert (found.text, found.file) == ("0.95", f"run/{EVENTS}")
    assert found.sha256 == sha256_file(tmp_path / "run" / EVENTS)
    assert found.place == "val/acc at step 1"
    last = select(tmp_path, selector("run", tensorboard={"tag": "val/acc"}, pick="last"))
    assert isinstance(last.value, Decimal)
    assert last.value.is_nan()
    best = selector("run", tensorboard={"tag": "val/acc"}, pick="max")
    assert "not all finite" in str(refused(tmp_path, best))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (simple(0.1), "0.1"),
        (simple(math.inf), "inf"),
        (tensor(1, field(4, struct.pack("<f", 0.1))), "0.1"),
        (tensor(1, field(5, struct.pack("<f", 0.25))), "0.25"),
        (tensor(1, varint(5 << 3 | 5) + struct.pack("<f", 0.5)), "0.5"),
        (tensor(2, field(6, struct.pack("<d", 0.1))), "0.1"),
        (tensor(2, field(4, struct.pack("<d", 1 / 3))), "0.3333333333333333"),
        (tensor(3, field(7, 7)), "7"),
        (tensor(3, field(7, varint(7))), "7"),
        (tensor(9, field(10, -3)), "-3"),
        (tensor(19, field(13, 0x3C00)), "1.0"),
    ],
)
def test_scalars_of_every_form(tmp_path: Path, body: bytes, text: str) -> None:
    write(tmp_path, EVENTS, event(3, "other", simple(9)) + event(1000, "val/acc", body))
    chosen = selector(EVENTS, tensorboard={"tag": "val/acc"})
    assert select(tmp_path, chosen).text == text


def test_several_files_of_one_run_are_read_in_their_order(tmp_path: Path) -> None:
    for number in (2, 1):
        name = f"run/events.out.tfevents.{number}.host"
        write(tmp_path, name, event(number, "val/acc", simple(number)))
    chosen = selector("run", tensorboard={"tag": "val/acc"}, pick="last")
    assert select(tmp_path, chosen).text == "2.0"
    write(tmp_path, "run/events.out.tfevents.3.host", event(1, "val/acc", simple(5)))
    again = selector("run", tensorboard={"tag": "val/acc"}, pick={"at": {"step": 1}})
    assert "2 places match" in str(refused(tmp_path, again))


WHOLE = event(1, "loss", simple(1)) + event(1000, "val/acc", simple(0.5))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (event(1000, "val/accuracy", simple(1)), "no scalars of 'val/acc'"),
        (WHOLE[:-1], "record 2 is cut off"),
        (WHOLE[:5], "record 1 is cut off"),
        (WHOLE[:-6] + b"\x01" + WHOLE[-5:], "record 2 is damaged"),
        (b"\xff" + WHOLE[1:], "record 1 is damaged"),
        (b"not an event file", "record 1 is damaged"),
        (event(1000, "val/acc", tensor(7, field(8, b"text"))), "val/acc holds no scalars"),
        (event(1000, "val/acc", field(5, b"histogram")), "val/acc holds no scalars"),
        (event(1000, "val/acc", tensor(1, field(4, bytes(8)))), "val/acc holds no scalars"),
        (event(1000, "val/acc", b"\x0b"), "is no event"),
    ],
)
def test_what_event_files_do_not_give_is_said(tmp_path: Path, content: bytes, said: str) -> None:
    write(tmp_path, f"run/{EVENTS}", content)
    assert said in str(refused(tmp_path, ACCURACY))


def test_a_folder_of_several_runs_names_them(tmp_path: Path) -> None:
    write(tmp_path, f"run/a/{EVENTS}", WHOLE)
    write(tmp_path, f"run/b/{EVENTS}", WHOLE)
    error = refused(tmp_path, ACCURACY)
    assert "holds no event files" in str(error)
    assert "a, b" in error.hint


# ---------------------------------------------------------------------- MLflow file store

RUN, OTHER = "0" * 32, "1" * 32


def store(folder: Path) -> None:
    """Write what MLflow 3 wrote for two runs."""
    metrics = f"mlruns/12/{RUN}/metrics"
    write(folder, f"{metrics}/val/acc", "1730000000000 0.10 0\n1730000000001 0.950 1\n")
    write(folder, f"{metrics}/loss", "1730000000000 nan 0\n")
    write(folder, f"mlruns/12/{RUN}/tags/mlflow.runName", "first")
    write(folder, f"mlruns/12/{OTHER}/metrics/val/acc", "1730000000000 0.5 0\n")
    write(folder, f"mlruns/12/{OTHER}/tags/mlflow.runName", "second")


def metric(name: str, run: str | None = "first", **more: Any) -> Any:
    return selector("mlruns", mlflow={"metric": name, **({"run": run} if run else {})}, **more)


@pytest.mark.parametrize("run", ["first", RUN])
def test_a_metric_is_read_with_its_digits(tmp_path: Path, run: str) -> None:
    store(tmp_path)
    found = select(tmp_path, metric("val/acc", run, pick="last"))
    assert (found.text, found.line) == ("0.950", 2)
    assert found.file == f"mlruns/12/{RUN}/metrics/val/acc"
    assert found.sha256 == sha256_file(tmp_path / found.file)
    assert select(tmp_path, metric("val/acc", run, pick={"at": {"step": 0}})).text == "0.10"


@pytest.mark.parametrize(
    ("chosen", "said", "hint"),
    [
        (metric("val/acc", None), "2 runs are in it", f"{RUN} (first), {OTHER} (second)"),
        (metric("val/acc", "third"), "has no run 'third'", "first"),
        (metric("acc"), "has no metric 'acc'", "loss, val/acc"),
        (metric("val/acc"), "2 places match", "pick: last"),
        (selector("m.txt", mlflow={"metric": "a"}), "is no folder", ""),
        (selector("mlruns/12", mlflow={"metric": "a"}), "holds no runs", "mlruns"),
    ],
)
def test_what_a_store_does_not_give_is_said(
    tmp_path: Path, chosen: Any, said: str, hint: str
) -> None:
    store(tmp_path)
    write(tmp_path, "m.txt", "")
    error = refused(tmp_path, chosen)
    assert said in str(error)
    assert hint in error.hint


def test_a_metric_that_is_not_finite_is_said(tmp_path: Path) -> None:
    store(tmp_path)
    value = select(tmp_path, metric("loss")).value
    assert isinstance(value, Decimal)
    assert value.is_nan()


def test_a_metric_stays_in_the_store(tmp_path: Path) -> None:
    store(tmp_path)
    with pytest.raises(UnsafePathError):
        select(tmp_path, metric("../tags/mlflow.runName"))


def test_a_metric_file_that_was_cut_is_said(tmp_path: Path) -> None:
    store(tmp_path)
    write(tmp_path, f"mlruns/12/{RUN}/metrics/loss", "1730000000000\n")
    assert "metrics/loss:1 is not" in str(refused(tmp_path, metric("loss")))
