"""The machinery of migrations, on synthetic steps: 1.0 is the only version there is."""

from __future__ import annotations

import pytest

from rra.artifact.migration import (
    EACH,
    STEPS,
    Drop,
    Move,
    Rename,
    Step,
    migrate_text,
    steps_between,
)
from rra.errors import FormatError, UsageError

RENAMED = Step(
    "1.0",
    "1.1",
    "hints say how long a launcher takes",
    {"manifest": (Rename(("launchers", EACH, "hint"), "takes"),)},
)
MOVED = Step(
    "1.1",
    "1.2",
    "the title of the paper is the title",
    {"manifest": (Move(("paper", "title"), ("title",)), Drop(("keywords",)))},
)
DROPPED = Step("1.2", "2.0", "no notes", {"settings": (Drop((EACH, "note")),)})
SYNTHETIC = (RENAMED, MOVED, DROPPED)

MANIFEST = """\
# what this is
rra:   '1.0'   # the format
name: wine
launchers:
  lda: {entry: a.sh,   hint: {wall: 3}}  # the main one
  qda:
    # measured twice
    hint:   # on a laptop

      wall:  12
    entry: b.sh
paper:
    year: 1936
    title:  "Multiple # measurements"
keywords: []
x-own: [1,
  2]
"""


def migrate(text: str, to: str, name: str = "manifest") -> str:
    return migrate_text(text, name, steps_between("1.0", to, SYNTHETIC), source="rra.yaml").text


@pytest.mark.clause("versioning/loses-nothing")
def test_a_key_is_renamed_everywhere_and_every_other_byte_stays() -> None:
    wanted = MANIFEST.replace("'1.0'", "'1.1'").replace("hint:", "takes:")
    assert migrate(MANIFEST, "1.1") == wanted


def test_windows_line_ends_stay() -> None:
    text = MANIFEST.replace("\n", "\r\n")
    wanted = text.replace("'1.0'", "'1.1'").replace("hint:", "takes:")
    assert migrate(text, "1.1") == wanted


@pytest.mark.clause("versioning/one-step")
def test_steps_follow_one_another() -> None:
    moved = migrate(MANIFEST, "1.2")
    assert "rra:   '1.2'   # the format\n" in moved
    assert "paper:\n    year: 1936\n" in moved
    assert moved.endswith("\ntitle: 'Multiple # measurements'\n")
    assert "keywords" not in moved
    assert "    # measured twice\n    takes:   # on a laptop\n" in moved


def test_each_change_is_said() -> None:
    steps = steps_between("1.0", "1.1", SYNTHETIC)
    assert migrate_text(MANIFEST, "manifest", steps, source="rra.yaml").changes == (
        "/launchers/lda/hint is now called takes",
        "/launchers/qda/hint is now called takes",
        "/rra is now 1.1",
    )


def test_a_document_that_follows_already_is_not_touched() -> None:
    once = migrate(MANIFEST, "1.1")
    assert migrate_text(once, "manifest", (RENAMED,), source="rra.yaml").text == once


def test_documents_that_no_step_is_about_stay() -> None:
    assert migrate("{}  # none\n", "1.2", "settings") == "{}  # none\n"


def refused(text: str, to: str, name: str = "manifest") -> list[tuple[str, str]]:
    with pytest.raises(FormatError) as caught:
        migrate(text, to, name)
    assert {problem.clause for problem in caught.value.problems} == {"versioning/loses-nothing"}
    return [(problem.place, problem.pointer) for problem in caught.value.problems]


@pytest.mark.clause("versioning/loses-nothing")
def test_content_of_a_dropped_key_stops_the_migration_and_is_named() -> None:
    settings = "a: {note: ''}\nb: {note: mine}\nc:\n  note: [1]\n"
    assert refused(settings, "2.0", "settings") == [
        ("rra.yaml:2:5", "/b/note"),
        ("rra.yaml:4:3", "/c/note"),
    ]
    assert migrate("a: {note: '', x: 1}\n", "2.0", "settings") == "a: {x: 1}\n"


def test_a_name_that_is_taken_stops_the_migration() -> None:
    text = 'rra: "1.0"\nlaunchers: {a: {hint: {wall: 1}, takes: 2}}\n'
    assert refused(text, "1.1") == [("rra.yaml:2:17", "/launchers/a/hint")]
    text = 'rra: "1.0"\ntitle: mine\npaper: {title: theirs}\n'
    assert refused(text, "1.2") == [("rra.yaml:3:9", "/paper/title")]


@pytest.mark.clause("versioning/loses-nothing")
def test_comments_that_would_go_stop_the_migration() -> None:
    assert refused('rra: "1.0"\nkeywords: [] # why\nname: a\n', "1.2") == [
        ("rra.yaml:2:1", "/keywords")
    ]


def test_versions_that_are_not_known_are_refused() -> None:
    with pytest.raises(UsageError, match=r"version 1\.7 .* not known") as caught:
        steps_between("1.0", "1.7", SYNTHETIC)
    assert caught.value.hint == "known: 1.0, 1.1, 1.2, 2.0"
    with pytest.raises(UsageError, match=r"no way from version 1\.1 .* to 1\.0"):
        steps_between("1.1", "1.0", SYNTHETIC)
    with pytest.raises(UsageError, match="no way"):
        steps_between("3.4", None, SYNTHETIC)


def test_no_step_is_needed_today() -> None:
    assert STEPS == ()
    assert steps_between("1.0", None) == []
    assert [step.target for step in steps_between("1.0", None, SYNTHETIC)] == ["1.1", "1.2", "2.0"]
