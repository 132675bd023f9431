from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.artifact import Artifact, load_artifact
from rra.author import expected_guide, render_guide
from rra.author.guide import begin, end, fill_tables
from rra.author.guide_tables import TABLES
from rra.errors import FormatError, UsageError
from tests.support.lookalikes import write

MANIFEST = """\
rra: "1.0"
name: wine
version: 1.0.0
license: MIT
environments: {cpu: {kind: pylock, python: "3.11", lock: environment/cpu/pylock.toml}}
data: {wine: {path: data/wine.csv}}
launchers:
  lda: {entry: launchers/lda.sh, environment: cpu, inputs: [wine], hint: {wall: 5}}
experiments:
  t1:
    outcomes:
      nn:
        type: number
        reported: "96.10"
        unit: percent
        location: "a | b"
        selector: {launcher: lda, file: m.json, json: /a}
        deviation: {observed: "95.5", explanation: one <wine> less}
"""
SETTINGS = """\
folds: {value: 178, source: code, where: "main.py:3", rationale: "<!-- rra:end settings -->",
  alternatives: [{value: 10, result: worse}]}
"""
REPAIRS = """\
0001-path:
  {title: T, symptom: S, cause: C, patch: guide/repairs/0001-path.patch, category: path,
   effect_on_results: none, rationale: R}
"""


def artifact(root: Path, guide: str | bytes) -> Artifact:
    write(
        root,
        {
            "rra.yaml": MANIFEST,
            "guide/settings.yaml": SETTINGS,
            "guide/repairs.yaml": REPAIRS,
            "guide/GUIDE.md": guide,
        },
    )
    return load_artifact(root)


def places(names: tuple[str, ...] = TABLES) -> str:
    return "".join(f"## {name}\n\n{begin(name)}\nold\n{end(name)}\n\nprose\n" for name in names)


def test_tables_say_what_the_documents_say(tmp_path: Path) -> None:
    result = render_guide(artifact(tmp_path, places()))
    assert (result.changed, result.tables, result.notes) == (True, TABLES, ())
    text = result.path.read_text("utf-8")
    assert "| `bash launchers/lda.sh` | `cpu` | `data/wine.csv` | 5 s |" in text
    assert (
        "| `t1/nn` | 96.10 % | a \\| b | `lda` | `m.json` | gives 95.5: one &lt;wine> less |"
        in text
    )
    assert (
        "| `folds` | `178` | code | main.py:3 | &lt;!-- rra:end settings --> | 10: worse |" in text
    )
    assert "| `0001-path` | T | S | path | none | R |" in text
    assert "\nold\n" not in text


def test_a_second_time_nothing_changes(tmp_path: Path) -> None:
    first = artifact(tmp_path, places())
    render_guide(first)
    before = (tmp_path / "guide/GUIDE.md").read_bytes()
    assert not render_guide(first).changed
    assert (tmp_path / "guide/GUIDE.md").read_bytes() == before
    assert expected_guide(first).encode() == before


PROSE = st.text(st.characters(codec="utf-8"), max_size=60).filter(lambda text: "rra:" not in text)


@given(
    parts=st.lists(PROSE, min_size=2, max_size=2),
    body=PROSE,
    newline=st.sampled_from(["\n", "\r\n"]),
)
@pytest.mark.clause("guide/prose-kept")
def test_prose_is_kept_to_the_byte(parts: list[str], body: str, newline: str) -> None:
    head, tail = parts
    text = f"{head}\n{begin('a')}\n{body}\n{end('a')}\n{tail}".replace("\n", newline)
    filled, done, _ = fill_tables(text, {"a": "| t |"})
    kept_head = text[: text.index(begin("a"))]
    kept_tail = text[text.rindex(end("a")) :]
    assert done == ("a",)
    assert filled.startswith(kept_head)
    assert filled.endswith(kept_tail)
    assert filled[len(kept_head) : -len(kept_tail)].split() == [*begin("a").split(), "|", "t", "|"]


def test_missing_and_unknown_places_are_said(tmp_path: Path) -> None:
    guide = places(("launchers", "results", "settings", "repairs")) + f"{begin('x')}\n{end('x')}\n"
    result = render_guide(artifact(tmp_path, guide))
    assert result.tables == ("launchers", "results", "settings", "repairs")
    assert [note.split(":")[0] for note in result.notes] == [
        "no table is called x; known are environments, launchers, results, settings, repairs",
        "the guide has no place for the table environments",
    ]


@pytest.mark.parametrize(
    ("guide", "line", "what"),
    [
        (f"a\n{begin('settings')}\n", 2, "is not ended"),
        (f"{end('settings')}\n", 1, "has no begin"),
        (f"{begin('settings')}\n{begin('repairs')}\n{end('repairs')}\n", 2, "not ended before"),
    ],
)
def test_markers_that_do_not_pair_up_are_refused(
    tmp_path: Path, guide: str, line: int, what: str
) -> None:
    with pytest.raises(FormatError, match=what) as caught:
        render_guide(artifact(tmp_path, guide))
    assert caught.value.problems[0].line == line
    assert (tmp_path / "guide/GUIDE.md").read_text() == guide


def test_no_guide_and_a_guide_that_is_not_text(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="not UTF-8"):
        render_guide(artifact(tmp_path, b"\xff\xfe"))
    (tmp_path / "guide/GUIDE.md").unlink()
    with pytest.raises(UsageError, match="there is no guide"):
        render_guide(load_artifact(tmp_path))
