from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from rra.scan.facts import absolute_paths, find_licence, python_hints
from rra.scan.objects import Command, PythonFile, TextLiteral


@pytest.mark.parametrize(
    ("name", "text", "spdx"),
    [
        ("setup.py", "setup(name='x', license='Apache License 2.0')", "Apache-2.0"),
        ("setup.cfg", "[metadata]\nlicense = MIT\n", "MIT"),
        ("DESCRIPTION", "Package: x\nLicense: GPL-2\n", "GPL-2.0-only"),
        ("DESCRIPTION", "Package: x\nLicense: MIT + file LICENSE\n", "MIT"),
        ("topics.py", "# SPDX-License-Identifier: MPL-2.0\nimport fire\n", "MPL-2.0"),
        ("LICENCIA", "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n", "GPL-3.0-only"),
        (
            "LICENSE",
            "Boost Software License - Version 1.0\nPermission is hereby granted, free of charge",
            "BSL-1.0",
        ),
        ("pyproject.toml", '[tool.poetry]\nlicense = "GPL-3.0-only"\n', "GPL-3.0-only"),
        ("README.md", "# X\n\n## License\n\nMIT\n", "MIT"),
        ("README.org", "* License\n\n  MIT\n", "MIT"),
        # BSD alone does not say which of them.
        ("setup.py", "setup(name='x', license='BSD')", ""),
    ],
)
def test_a_licence_that_no_licence_file_states(name: str, text: str, spdx: str) -> None:
    licence = find_licence({PurePosixPath(name): text})
    assert licence is not None
    assert (licence.spdx, licence.path.name) == (spdx, name)


def test_a_licence_file_counts_more_than_what_packaging_says() -> None:
    texts = {
        PurePosixPath("COPYRIGHT"): (
            "Redistribution and use in source and binary forms, with or without ... "
            "3. Neither name of copyright holders nor the names of its contributors"
        ),
        PurePosixPath("setup.py"): "setup(license='MIT')",
    }
    licence = find_licence(texts)
    assert licence is not None
    assert (licence.spdx, str(licence.path)) == ("BSD-3-Clause", "COPYRIGHT")


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        ("setup.py", "setup(python_requires='>=3.6,<3.8', packages=[])", ">=3.6,<3.8"),
        ("setup.cfg", "[options]\npython_requires = >=3.7\n", ">=3.7"),
        ("README.md", "Needs Python >= 3.9 and more.\n", ">=3.9"),
        ("Dockerfile", "FROM python:3.11-slim\nRUN true\n", "3.11"),
        ("env.yml", "dependencies:\n  - python=3.11.5=h7a1cb2a_0\n", "3.11.5"),
    ],
)
def test_python_versions(name: str, text: str, hint: str) -> None:
    assert [found.text for found in python_hints({PurePosixPath(name): text})] == [hint]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("conda create --name x python=3.8 -y", "3.8"),
        ("virtualenv -p python3.7 venv", "3.7"),
        ("python3.10 -m venv x", "3.10"),
        ("py -3.8 -m venv x", "3.8"),
        ("uv venv --python 3.12", "3.12"),
        ("python3.6 main.py", None),
    ],
)
def test_documented_environments_say_the_version(text: str, version: str | None) -> None:
    argv = tuple(text.split())
    command = Command(text, PurePosixPath("README.md"), 4, "install", argv)
    hints = [(hint.text, hint.source, hint.exact) for hint in python_hints({}, [command])]
    assert hints == ([(version, "README.md:4", True)] if version else [])


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("Python 3.8 or newer.", ">=3.8"),
        ("Tested on Python 3.7+", ">=3.7"),
        ("python 3.9.1 and above", ">=3.9"),
        ("Tested with Python 3.8.", None),
    ],
)
def test_a_readme_sets_a_limit_only_when_it_says_so(text: str, least: str | None) -> None:
    hints = [hint.text for hint in python_hints({PurePosixPath("README.md"): text})]
    assert [one for one in hints if one.startswith(">=")] == ([least] if least else [])


def test_paths_of_containers_and_file_addresses_are_paths_of_a_machine() -> None:
    texts = ("/opt/x/lib", "/results/scores.csv", "file:///home/eva/a.txt", "/metrics", "data/a")
    literals = tuple(TextLiteral(text, 1) for text in texts)
    path = PurePosixPath("a.py")
    found = absolute_paths({path: PythonFile(path, strings=literals)}, {}, {})
    assert [one.text for one in found] == list(texts[:3])


def test_paths_of_settings_commands_and_other_languages_are_found() -> None:
    texts = {
        PurePosixPath("environment.yml"): "name: x\nprefix: /home/eva/envs/x\n# /home/eva/no\n",
        PurePosixPath("a.m"): "p = 'C:\\Users\\eva\\data';\n",
        PurePosixPath("conf/c.yaml"): "url: https://e.org/data/x\nroot: /scratch/p/era5\n",
    }
    found = [(str(one.path), one.line, one.text) for one in absolute_paths({}, {}, texts)]
    assert found == [
        ("environment.yml", 2, "/home/eva/envs/x"),
        ("a.m", 1, "C:\\Users\\eva\\data"),
        ("conf/c.yaml", 2, "/scratch/p/era5"),
    ]
