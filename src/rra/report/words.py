"""What each word of a verdict, level or error means, and what to do next."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator

from rra import errors
from rra.errors import RraError, UsageError
from rra.report.clauses import Clause, find_clause, near_clauses, page_clauses
from rra.report.error_words import ERRORS
from rra.report.signature_words import SIGNATURES


@dataclasses.dataclass(frozen=True, slots=True)
class Word:
    """One entry of the catalogue.

    Attributes:
        word: As results and messages write it.
        kind: What sort of word it is.
        meaning: What it says, in a few sentences.
        next: What to do now.
    """

    word: str
    kind: str
    meaning: str
    next: str

    def render(self) -> str:
        """Return the entry as Markdown."""
        return f"# {self.word}\n\n*{self.kind}*\n\n{self.meaning}\n\n**What to do:** {self.next}\n"


def explain_word(word: str) -> str:
    """Return the entry of a word as Markdown.

    Raises:
        UsageError: The catalogue has no such word.
    """
    known = catalogue()
    wanted = word.strip().strip("[]").split("(")[0].replace(" ", "_")
    key = wanted if wanted in known else next((k for k in known if k.lower() == wanted.lower()), "")
    family = _CLAUSES.get(wanted.lower().partition("/")[0])
    clause = None if key else find_clause(wanted.lower())
    if clause:
        return _clause(clause, family[1] if family else _READ).render()
    listed = [] if key else page_clauses(wanted.lower())
    if listed:
        return _page(wanted.lower(), listed).render()
    near = [] if key else near_clauses(wanted.lower())
    if not key and family and not near:
        meaning = f"{family[0]} {_CLAUSE}"
        return Word(wanted, "clause of a problem or finding", meaning, family[1]).render()
    if not key:
        near = near or difflib.get_close_matches(wanted, known, n=3, cutoff=0.5)
        hint = f"did you mean {', '.join(near)}?" if near else f"words: {', '.join(known)}"
        raise UsageError(f"there is nothing to explain about {word}", hint=hint)
    return known[key].render()


def _clause(clause: Clause, what_next: str) -> Word:
    """Return a clause of the specification as an entry."""
    how, _, reason = clause.checked.partition(": ")
    checked = f"No machine checks it: {reason}." if reason else f"Checked by: {how}."
    meaning = f"{clause.text}\n\nBinds: {clause.binds}. {checked} In {clause.page}."
    what_next = f"{what_next} The whole page: {clause.path}"
    return Word(clause.id, "clause of the specification", meaning, what_next)


def _page(page: str, clauses: list[Clause]) -> Word:
    """Return a page of the specification, with the ids of its clauses, as an entry."""
    ids = "\n".join(f"- {clause.id}" for clause in clauses)
    meaning = f"The clauses of {clauses[0].page}:\n\n{ids}"
    what_next = (
        f"Name one of them, such as `rra explain {clauses[0].id}`. "
        f"The whole page: {clauses[0].path}"
    )
    return Word(page, "page of the specification", meaning, what_next)


def catalogue() -> dict[str, Word]:
    """Return all entries by word: verdicts, levels, weights, scopes, signatures, errors."""
    entries = [*_VERDICTS, *_AUDIT, *_EVIDENCE, *_LEVELS, *_WEIGHTS, *_SCOPES]
    entries += [Word(word, "state of a signature", *said) for word, *said in SIGNATURES]
    entries += _errors()
    return {entry.word: entry for entry in entries}


def error_slugs() -> list[str]:
    """Return the slug of every error that `rra` raises on purpose."""
    classes = [RraError]
    for parent in classes:
        classes += parent.__subclasses__()
    own = [cls for cls in classes if cls.__module__ == errors.__name__]
    return sorted({cls.slug for cls in own})


def _errors() -> Iterator[Word]:
    for slug, (meaning, what_next) in ERRORS.items():
        yield Word(slug, "error", meaning, what_next)


def _verdict(word: str, meaning: str, what_next: str) -> Word:
    return Word(word, "verdict on an outcome", meaning, what_next)


def _audit(word: str, meaning: str, what_next: str) -> Word:
    return Word(word, "audit verdict", meaning, what_next)


def _evidence(word: str, meaning: str, what_next: str) -> Word:
    return Word(word, "evidence level", meaning, what_next)


def _level(word: str, meaning: str, what_next: str) -> Word:
    return Word(word, "level of an artifact", meaning, what_next)


_VERDICTS = (
    _verdict(
        "reproduced",
        "The new runs agree with the value in the paper, and with the reference runs where there "
        "are any. It is necessary evidence, not proof: a wrong method can give the same number.",
        "Read the audit beside it. Where no references were given, only agreement was asked: "
        "collect five runs by somebody else and verify again with `--references`.",
    ),
    _verdict(
        "deviates_as_documented",
        "The artifact does not reach the value in the paper. It says so itself, explains why, and "
        "a new run gives exactly the value that it announces. This is honest, and it is not a "
        "reproduction: the exit code stays 1.",
        "Read the explanation and decide whether the difference matters to you. "
        "`rra verify --accept-documented` counts it as a yes.",
    ),
    _verdict(
        "deviates",
        "New runs repeat what the artifact gives, but that is not the value in the paper.",
        "Compare data, settings and versions with the paper. If the cause is found and stays, the "
        "author documents it under `deviation` of the outcome.",
    ),
    _verdict(
        "partial",
        "Some of what was declared came out and some did not.",
        "Look at the single outcomes; each has its own reason.",
    ),
    _verdict(
        "not_reproduced",
        "The new runs do not give the value in the paper; or they give it only because it is "
        "copied from a file or from the source text; or they give no value at all.",
        "Read the findings of the outcome. `HARDCODED` names the file and line that the value "
        "comes from.",
    ),
    _verdict(
        "inconclusive",
        "The evidence decides nothing either way. The word in brackets says why: a single run of "
        "something random, a smoke run, a shortened run, or references that scatter too much.",
        "Run more often: the report says how many more runs would decide. Declare `seeds`, or "
        "`deterministic: true` if a run always gives the same.",
    ),
    _verdict(
        "not_assessed",
        "The question was not asked. As the verdict on an outcome: it was not judged, because it "
        "is declared as not comparable here (such as a duration on another machine). In the "
        "column of repeats: there are no references, or too few, to compare the new runs with; "
        "that says nothing against the value.",
        "Verify on the hardware that the paper names, or leave it. For repeats: collect runs by "
        "somebody else and give them with `rra verify --references`.",
    ),
    _verdict(
        "could_not_run",
        "No run was possible: hardware, platform, data or environment are missing, time ran out, "
        "or the launcher failed. That says nothing about the value.",
        "Read the reason beside it and the end of the launcher's output; supply what is missing "
        "and verify again.",
    ),
)

_AUDIT = (
    _audit(
        "SUPPORTED",
        "The value can be followed from the paper to an output, to the recorded run that wrote "
        "it, to the script; and nothing material speaks against it.",
        "Nothing. See the evidence level for how far it was followed.",
    ),
    _audit(
        "SUPPORTED_DERIVED",
        "The value follows by arithmetic (a difference, a mean) from values that are supported.",
        "Nothing.",
    ),
    _audit(
        "CONTRADICTED",
        "The place that the selector names holds another value than the one reported.",
        "Check the selector first (row, key, unit), then the reported value. Document a real "
        "difference under `deviation`.",
    ),
    _audit(
        "MISATTRIBUTED",
        "The value exists, but in the output of another run or another row than declared.",
        "Correct the selector, or the table in the paper.",
    ),
    _audit(
        "PM_MISMATCH",
        "The spread that is reported (±) is not the spread of the runs, by any usual convention.",
        "Say which convention is meant (`sd`, `se`, `ci95`, `range`) and over how many runs.",
    ),
    _audit(
        "DELTA_ERROR",
        "A reported difference or average does not follow from the values it is made of.",
        "Compute it again from the values at full precision.",
    ),
    _audit(
        "IMPLAUSIBLE",
        "The value is impossible: outside its bounds, or no fraction of the number of items.",
        "Check the unit, the number of items and the metric.",
    ),
    _audit(
        "TAMPERED",
        "An output has another digest than the record of its run says: it was changed after the "
        "run, whoever did it and for whatever reason.",
        "Remove the record and run the launcher again.",
    ),
    _audit(
        "STALE",
        "The evidence belongs to another state of the code, data or environment.",
        "Run the launcher again with `rra run`.",
    ),
    _audit(
        "HARDCODED",
        "The value is copied, not computed: when a number in a committed file or in the source "
        "text was changed, the outcome changed to exactly that number, both ways.",
        "Open the file and line that are named. If the number is a result of an earlier run, the "
        "launcher has to make it again; if it is an input, declare it under `data`.",
    ),
    _audit(
        "LEAKED_REFERENCE",
        "The run read the reference values that it is to be compared with.",
        "Remove the access and verify in a fresh place.",
    ),
    _audit(
        "SELECTIVE",
        "The value is the best of several runs or epochs, and that was not declared.",
        "Report all runs, or declare the choice in the selector (`pick`, `aggregate`).",
    ),
    _audit(
        "UNIT_SUSPECT",
        "The value agrees after a factor of 100 or 1000 that the declared units do not explain.",
        "Say in the selector in which unit the file is written.",
    ),
    _audit(
        "DATA_MISMATCH",
        "The data that the run read is not the data that the artifact declares.",
        "Put the declared data back, or lock again and say why the data changed.",
    ),
    _audit(
        "SEED_MISMATCH",
        "The run set another seed than it was given.",
        "Let the launcher pass `RRA_SEED` on to everything that draws random numbers.",
    ),
    _audit(
        "UNTRACEABLE",
        "No output holds a value at the place that the selector names.",
        "Run the launcher, look into its output folder, and correct the selector.",
    ),
    _audit(
        "UNEXECUTED",
        "There is no successful run behind the value: nothing shows that it was ever computed.",
        "Run the launcher with `rra run`, or let the auditor run it.",
    ),
    _audit(
        "INCOMPLETE_RECORD",
        "A run is recorded, but parts of the record are missing, so it cannot be followed.",
        "Run the launcher again with `rra run`.",
    ),
    _audit(
        "AMBIGUOUS",
        "Several places fit and they hold different values; no choice was declared.",
        "Make the selector exact, or declare which one counts with `pick`.",
    ),
    _audit(
        "NOT_ASSESSED",
        "The audit could not decide, and says why. It is neither for nor against the value.",
        "Read the reason. Often it is that nothing could be run here.",
    ),
)

_EVIDENCE = (
    _evidence("E0", "Nothing was found.", "Run the launcher, then audit again."),
    _evidence(
        "E1",
        "The value occurs in some file. By itself that proves nothing: short numbers occur "
        "everywhere by chance.",
        "Declare a selector that says where it stands.",
    ),
    _evidence(
        "E2",
        "The value stands where the selector says, and what surrounds it is consistent.",
        "Let `rra run` record the run that writes it.",
    ),
    _evidence(
        "E3",
        "The file is an output of a recorded, successful run, and code, data and environment of "
        "that run are those of the artifact.",
        "Let the auditor run it again: `rra audit --rerun`.",
    ),
    _evidence(
        "E4",
        "The auditor ran the launcher and the value came out again.",
        "Nothing more is needed for a deterministic result; probes make it stronger.",
    ),
    _evidence(
        "E5",
        "The auditor's run gave the value, and runs with deliberately changed inputs gave other "
        "values, as an honest computation does.",
        "Nothing.",
    ),
)

_LEVELS = (
    _level(
        "L0",
        "Well-formed: the documents follow the format, all paths stay inside, no blanks are left. "
        "It is found without running anything and promises nothing about the numbers.",
        "Lock the environment: `rra lock`.",
    ),
    _level(
        "L1",
        "It builds: every environment was built from its lock in an empty place.",
        "Run the launchers: `rra run`.",
    ),
    _level(
        "L2",
        "It runs: every launcher ended well in isolation, with its outputs made anew.",
        "Let somebody verify: `rra verify`.",
    ),
    _level(
        "L3",
        "It reproduces: every declared outcome agrees with the paper and repeats, none is left "
        "open, and no finding speaks against one. Always read it with the coverage: how many of "
        "the paper's numbers were declared.",
        "Let somebody who did not make the artifact verify it and sign.",
    ),
    _level(
        "L4",
        "Independently reproduced: L3, signed by somebody whom your own policy trusts and who did "
        "not make the artifact.",
        "Nothing.",
    ),
)

_WEIGHTS = (
    Word(
        "material",
        "weight of a finding",
        "A finding that counts: it decides the verdict on the value. Only `immaterial` is written "
        "beside a finding; all others are material.",
        "Read what the finding says, and its own word: `rra explain HARDCODED`.",
    ),
    Word(
        "immaterial",
        "weight of a finding",
        "A finding that is told for completeness and decides nothing: the verdict would be the "
        "same without it.",
        "Nothing has to be done. Read it if you want to know what else was seen.",
    ),
)


def _scope(word: str, meaning: str) -> Word:
    what_next = "It is `scope` in rra.yaml: say what the launcher really redoes, never more."
    return Word(word, "scope of an outcome", meaning, what_next)


_SCOPES = (
    _scope(
        "retrained",
        "Everything is redone, from the data to the value: models are trained or fitted anew. It "
        "is what holds when no scope is given.",
    ),
    _scope(
        "re-evaluated",
        "A model that is supplied is run on the data again; it is not trained anew.",
    ),
    _scope(
        "rescored",
        "Predictions that are supplied are scored again; no model is run.",
    ),
    _scope(
        "aggregated",
        "Results of single runs that are supplied are put together again (a mean, a table). The "
        "declared data may hold those numbers, so taking them from there is not hard-coding.",
    ),
)

_CLAUSE = "The clause in brackets names what exactly is broken; the line names the place."
_DOCUMENT = "Go to the line and column that are named; `rra lint` shows the place again."
_READ = "Read the message beside it. Correct the file it names, and run the same command again."
_MADE = "A program made the document: tell whoever made it, and use another until it is mended."
_CLAUSES = {
    "author": ("The template that `rra init` was given cannot be used.", _READ),
    "audit": ("An audit breaks the format, or says more than its findings show.", _MADE),
    "levels": ("A reproduction claims a level that it does not show.", _MADE),
    "reproduction": (
        "A plan or reproduction breaks the format, or says more than its runs show.",
        _MADE,
    ),
    "notice": ("A notice breaks the format, or says what its kind does not allow.", _MADE),
    "policy": ("The reader's policy file cannot be used, so nobody is trusted.", _READ),
    "review": ("A review breaks the format, or names nothing that shows what it says.", _MADE),
    "bundle": (
        (
            "Something in the artifact or the bundle is not what an archive may hold: a link "
            "that leads nowhere or away, a name that some systems cannot store, a file that is "
            "missing, or a document of the bundle that is damaged."
        ),
        (
            "Rename, copy or remove the file that is named, or exclude it (`code.exclude` in "
            "rra.yaml). A bundle made by somebody else: fetch it again."
        ),
    ),
    "canonical-json": (
        "A value has no canonical form, or a file of a program is not written in it.",
        "Write whole numbers beyond 2^53 - 1 as text; have the program write its file again.",
    ),
    "canonical-tar": (
        (
            "Something in the artifact or the bundle is not what an archive may hold: a link "
            "that leads nowhere or away, a name that some systems cannot store, a file that is "
            "missing, or a document of the bundle that is damaged."
        ),
        (
            "Rename, copy or remove the file that is named, or exclude it (`code.exclude` in "
            "rra.yaml). A bundle made by somebody else: fetch it again."
        ),
    ),
    "claims": ("Something about the numbers found in a text or in a run.", _READ),
    "code": ("Something about the files of the code.", _READ),
    "documents": ("A document cannot be read, or a text in it has the wrong form.", _DOCUMENT),
    "environment": (
        "Something about an environment or its lock.",
        "Lock it again: `rra lock`.",
    ),
    "execution-record": (
        "A record of an earlier run is incomplete, changed, or of another state of the artifact.",
        "Remove the record and run the launcher again: `rra run`.",
    ),
    "format": ("A document cannot be read at all: it is not valid YAML, JSON or UTF-8.", _DOCUMENT),
    "guide": ("Something about the guide or its tables.", "Write its tables again: `rra guide`."),
    "launch": ("Something that a run needs is not there.", _READ),
    "launcher": ("Something about a launcher: its file, its paths or what it reads.", _READ),
    "lint": ("Something about linting itself: what it could not read or is to overlook.", _READ),
    "lock": ("rra.lock breaks the format, or is of other files.", "Make it anew: `rra lock`."),
    "manifest": (
        (
            "rra.yaml breaks the format: a key is missing or unknown, a value has the wrong "
            "form, or a name is used that is defined nowhere."
        ),
        _DOCUMENT,
    ),
    "model": ("A value of a document has the wrong form.", _DOCUMENT),
    "references": ("The file of reference runs breaks the format.", _DOCUMENT),
    "repairs": ("Something about guide/repairs.yaml or a patch.", "See all of it: `rra repair`."),
    "scan": (
        (
            "Something in the repository could not be read while it was looked through, such as a "
            "script with a syntax error; the rest was."
        ),
        "Correct that file, or ignore it if it plays no part in the results.",
    ),
    "security": ("Something that looks like a secret.", "Take it out, and withdraw the secret."),
    "experiment": ("Something about an experiment of rra.yaml.", _DOCUMENT),
    "outcome": (
        (
            "Something about an outcome of rra.yaml: what is reported, its bounds or unit, what it "
            "follows from, or its deviation."
        ),
        _DOCUMENT,
    ),
    "selector": (
        "A selector cannot find its value, or says something that cannot be.",
        "Correct it in rra.yaml.",
    ),
    "table": ("Something about a results table, in rra.yaml or in its own file.", _DOCUMENT),
    "settings": ("guide/settings.yaml breaks the format.", _DOCUMENT),
}
"""What the first part of a clause stands for, and what to do."""
