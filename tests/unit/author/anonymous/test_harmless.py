"""What can be written differently without changing what runs."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from rra.author.anonymous.blank import blank_file
from rra.author.anonymous.identifier import Finder
from rra.author.anonymous.people import Words, person

FINDER = Finder(person("Bo Sample", Words(), "test"))


def lines(
    path: str, text: str, *, element: str = "code", read: bool | None = None
) -> list[int | None]:
    """Return the lines that are reported."""
    done = blank_file(PurePosixPath(path), text.encode(), FINDER, element=element, read=read)
    assert b"Sample" not in done.data
    return [problem.line for problem in done.problems]


@pytest.mark.parametrize(
    ("path", "text", "reported"),
    [
        ("code/a.py", "# Bo Sample\nx = 1  # Bo Sample\n", []),
        ("code/a.py", '"""By Bo Sample."""\n\ndef f():\n    """Bo Sample."""\n', []),
        ("code/a.py", "x = 'Bo Sample'\n", [1]),
        ("code/a.py", "x = '# Bo Sample'\n", [1]),
        ("code/a.py", 'x = """\n# Bo Sample\n"""\n', [2]),
        ("code/a.py", "def bo_sample(): pass\n", [1]),
        ("code/a.py", "__author__ = 'Bo Sample'\n", []),
        ("code/old.py", "# Bo Sample\nprint 'Bo Sample'\n", [2]),
        ("code/setup.py", "setup(name='x', author='Bo Sample')\n", []),
        ("code/setup.py", "setup(name='Bo Sample')\n", [1]),
        ("launchers/run.sh", "#!/bin/sh\n# Bo Sample\ncd /x  # Bo Sample\n", []),
        ("launchers/run.sh", "echo 'x # Bo Sample'\n", [1]),
        ("code/a.R", "# Bo Sample\nx <- 'Bo Sample'\n", [2]),
        ("code/a.c", '// Bo Sample\n/* Bo\n Sample */\nchar *x = "Bo Sample";\n', [4]),
        ("code/README.md", "By Bo Sample\n", []),
        ("code/pyproject.toml", '[project]\nname = "x"\nauthors = [{name = "Bo Sample"}]\n', []),
        ("code/pyproject.toml", '[project]\nname = "Bo Sample"\n', [2]),
        ("code/package.json", '{"author": "Bo Sample", "name": "x"}', []),
        ("code/package.json", '{"author": "x", "name": "Bo Sample"}', [1]),
        ("code/unknown.xyz", "Bo Sample\n", [1]),
    ],
)
def test_places_that_take_part_are_reported(path: str, text: str, reported: list[int]) -> None:
    element = "launchers" if path.startswith("launchers") else "code"
    assert lines(path, text, element=element) == reported


def test_a_table_of_data_is_never_rewritten_without_a_word() -> None:
    assert lines("data/authors.txt", "1\nBo Sample\n", element="data") == [2]


def test_prose_that_a_run_was_seen_to_read_is_no_prose() -> None:
    assert lines("code/news.md", "Bo Sample\n", read=False) == []
    assert lines("code/news.md", "Bo Sample\n", read=True) == [1]


def test_code_that_no_recorded_run_read_is_blanked_and_said() -> None:
    path, text = PurePosixPath("code/old.py"), b"x = 'Bo Sample'\n"
    done = blank_file(path, text, FINDER, element="code", read=False)
    assert (done.problems, done.unread) == ((), True)


NOTEBOOK = """{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": ["Bo Sample"]},
  {"cell_type": "code", "metadata": {}, "source": [
   "# Bo Sample\\n",
   "x = 'Bo Sample'\\n"
  ], "outputs": [{"output_type": "stream", "text": [
   "Bo Sample\\n"
  ]}]}
 ],
 "metadata": {"authors": [{"name": "Bo Sample"}]},
 "nbformat": 4, "nbformat_minor": 5
}
"""


def test_of_a_notebook_only_lines_of_code_take_part() -> None:
    assert lines("code/a.ipynb", NOTEBOOK) == [6]


def test_a_licence_keeps_its_words_and_loses_its_holders() -> None:
    text = (
        b"MIT License\n\nCopyright (c) 2020-2024 Bo Other, Ann Third. All rights reserved.\n"
        b"The above copyright notice shall be included in all copies.\n"
        b"Copyright (C) 2007 Free Software Foundation, Inc. <https://fsf.org/>\n"
    )
    done = blank_file(PurePosixPath("LICENSE"), text, FINDER, element="meta")
    assert done.data == (
        b"MIT License\n\nCopyright (c) 2020-2024 Anonymous\n"
        b"The above copyright notice shall be included in all copies.\n"
        b"Copyright (C) 2007 Free Software Foundation, Inc. <https://fsf.org/>\n"
    )


def test_files_that_only_name_people_are_left_out_as_a_whole() -> None:
    for name in ("AUTHORS", "CONTRIBUTORS.md", "CITATION.cff", ".mailmap"):
        done = blank_file(PurePosixPath("code", name), b"Zoe Unknown\n", FINDER, element="code")
        assert b"Zoe" not in done.data
