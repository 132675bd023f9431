from __future__ import annotations

from pathlib import PurePosixPath

from rra.scan.builds import compiled, read_builds, read_makefile
from rra.scan.parameters import Modules, console_scripts

PLAIN = """\
CXX ?= g++
OBJ = solver.o \\
      util.o
ifeq ($(OS),Darwin)
\tEXT = dylib
endif
.PHONY: all clean
all: bin/fit score
bin/fit: fit.cpp $(OBJ)
\t@$(CXX) -O2 -o $@ $^
score: score.o
solver.o: solver.cpp
\t$(CXX) -c -o $@ $<
lib: $(OBJ)
\t$(CXX) -shared -o libfit.so.2 $(OBJ)
clean:
\trm -f bin/fit
table1: bin/fit
\t./bin/fit data.txt > $@.txt
\t$(PYTHON) plot.py --seed $$SEED
"""


def test_a_makefile_tells_its_programs_targets_and_recipes() -> None:
    found = read_makefile(PLAIN)
    assert found.programs == ("bin/fit", "score")
    assert found.targets == {
        *("all", "bin/fit", "score", "solver.o", "lib", "clean", "table1"),
    }
    assert not found.open
    assert found.recipes[0] == (10, "g++ -O2 -o bin/fit fit.cpp solver.o util.o")
    assert found.recipes[-2:] == (
        (19, "./bin/fit data.txt > table1.txt"),
        (20, "python plot.py --seed $SEED"),
    )


def test_patterns_and_included_files_leave_the_targets_open() -> None:
    assert read_makefile("%.pdf: %.tex\n\tlatex $<\n").open
    assert read_makefile("-include deps.mk\nall:\n").open


def test_variables_that_name_each_other_come_to_an_end() -> None:
    text = "A = $(B) $(B)\nB = $(A) $(A)\n$(A): x.o\n\t$(CC) -o $@ $(A)\n"
    assert read_makefile(text).programs == ()


def test_programs_of_other_builders_and_installed_commands() -> None:
    files = [PurePosixPath(n) for n in ("src/cli/main.py", "bin/sweep", "tool.py", "old/go.py")]
    texts = {
        PurePosixPath("CMakeLists.txt"): "ADD_EXECUTABLE(fmm main.cpp)",
        PurePosixPath("rs/Cargo.toml"): '[package]\nname = "walk"\n[[bin]]\nname = "run-walk"\n',
        PurePosixPath(
            "pyproject.toml"
        ): '[project.scripts]\nherd = "cli.main:run"\nno = "gone:x"\n',
        PurePosixPath("setup.py"): (
            "import os\nos.remove('x')\nsetup(scripts=['bin/sweep'],\n"
            " entry_points={'console_scripts': ['tool = tool:main']})\n"
        ),
        PurePosixPath(
            "old/setup.cfg"
        ): "[options.entry_points]\nconsole_scripts =\n  go = go:main\n",
    }
    every = [*files, *texts]
    found = read_builds(texts, every, console_scripts(Modules(every, texts.get)))
    assert {str(path): str(by) for path, by in found.programs.items()} == {
        "build/fmm": "CMakeLists.txt",
        "rs/target/release/walk": "rs/Cargo.toml",
        "rs/target/release/run-walk": "rs/Cargo.toml",
    }
    assert {name: str(path) for name, path in found.installed.items()} == {
        "herd": "src/cli/main.py",
        "sweep": "bin/sweep",
        "tool": "tool.py",
        "go": "old/go.py",
    }


def test_broken_build_files_tell_nothing() -> None:
    names = ("pyproject.toml", "setup.cfg", "setup.py", "Cargo.toml", "Makefile", "CMakeLists.txt")
    texts = {PurePosixPath(name): "[[[\n(\t=:\\" for name in names}
    found = read_builds(texts, texts, console_scripts(Modules(texts, texts.get)))
    assert (found.programs, found.installed) == ({}, {})


def test_compilers_in_command_lines() -> None:
    assert list(compiled("g++ -O3 main.cpp -o ./walk")) == ["walk"]
    assert list(compiled("gcc -c a.c -o a.o")) == []
    assert list(compiled("gcc -shared a.c -o liba.so")) == []
    assert list(compiled("grep -o walk")) == []
