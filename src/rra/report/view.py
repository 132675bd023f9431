"""From the artifact and the documents about it to what the report shows.

This module, `rra.report.outcome_view`, `rra.report.run_view` and `rra.report.limits` are the only
ones that know field names of documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rra import __version__
from rra.artifact import layout
from rra.errors import RraError
from rra.report.documents import Doc
from rra.report.limits import limits
from rra.report.outcome_view import outcome_views
from rra.report.page import (
    EnvironmentView,
    Fact,
    Found,
    OutcomeView,
    Page,
    RepairView,
    SettingView,
)
from rra.report.run_view import level, plan_facts, run_facts, runs
from rra.report.vocabulary import ORDER, overall, verdict

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.model import Environment, EnvironmentLock, Repair, Setting

Json = Mapping[str, Any]
_SEVERITY_TONES = {"error": "bad", "warning": "mixed", "note": "none"}


def build_page(
    artifact: Artifact,
    *,
    reproduction: Json | None = None,
    audit: Json | None = None,
    lint: Json | None = None,
) -> Page:
    """Gather what a report shows.

    Args:
        artifact: The artifact.
        reproduction: What verify wrote, if it ran.
        audit: What audit wrote, if it ran.
        lint: What lint found, if it ran.
    """
    manifest = artifact.manifest
    done, checked = Doc(reproduction), Doc(audit)
    built = {item.text("id"): item for item in done.docs("environments")}
    outcomes = outcome_views(artifact, done, checked)
    paper = manifest.paper
    title = manifest.title or (paper.title if paper else None) or manifest.name
    return Page(
        title=title,
        name=f"{manifest.name} {manifest.version}",
        description=manifest.description or "",
        paper=_paper(artifact),
        verified=bool(done),
        headline=_headline(outcomes, done, checked),
        tone=overall([item.verdict.word for item in outcomes]) if done else "none",
        level=level(done),
        counts=_counts(outcomes) if done else (),
        run=run_facts(done, checked),
        runs=runs(done),
        outcomes=outcomes,
        settings=tuple(_setting(name, item) for name, item in artifact.settings.items()),
        repairs=tuple(_repair(artifact, key, item) for key, item in artifact.repairs),
        equality=_equality(artifact),
        environments=tuple(
            _environment(artifact, key, item, built.get(key, Doc(None)))
            for key, item in manifest.environments.items()
        ),
        plan=plan_facts(done),
        limits=limits(outcomes, done, checked),
        lint=_lint(lint),
        footer=f"Written by rra {__version__}.",
    )


def _paper(artifact: Artifact) -> tuple[str, str] | None:
    paper = artifact.manifest.paper
    if paper is None:
        return None
    who = ", ".join(paper.authors or ())
    year = f" ({paper.year})" if paper.year else ""
    parts = [part for part in (who + year, paper.title) if part]
    address = paper.url or ""
    if paper.doi:
        address = f"https://doi.org/{paper.doi}"
    elif paper.arxiv and not address:
        address = f"https://arxiv.org/abs/{paper.arxiv}"
    if not address.startswith(("https://", "http://")):
        parts, address = [*parts, *([address] if address else [])], ""
    return (". ".join(parts) or artifact.manifest.name, address)


def _counts(outcomes: tuple[OutcomeView, ...]) -> tuple[tuple[Any, int], ...]:
    found = Counter(item.verdict.word for item in outcomes)
    ranked = sorted(found, key=lambda w: (ORDER.index(w) if w in ORDER else len(ORDER), w))
    return tuple((verdict(word), found[word]) for word in ranked)


def _headline(outcomes: tuple[OutcomeView, ...], done: Doc, checked: Doc) -> str:
    total = len(outcomes)
    noun = "declared outcome" if total == 1 else "declared outcomes"
    if not done:
        what = "audited but not verified" if checked else "not verified"
        return f"{total} {noun}, {what}: no new run stands behind these numbers yet."
    first = sum(item.verdict.word == "reproduced" for item in outcomes)
    return f"{first} of {total} {noun} {'was' if total == 1 else 'were'} reproduced."


def _setting(name: str, setting: Setting) -> SettingView:
    value = setting.value
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    tried = [
        f"{item.value}" + (f" → {item.result}" if item.result else "")
        for item in setting.alternatives
    ]
    return SettingView(
        name, text, f"{setting.source}: {setting.where}", setting.rationale, tuple(tried)
    )


def _repair(artifact: Artifact, key: str, repair: Repair) -> RepairView:
    try:
        patch = artifact.path(repair.patch).read_text("utf-8", errors="replace")
    except (OSError, RraError):
        patch = None
    facts = (
        Fact("run that failed before", repair.before or "", fixed=True),
        Fact("run that worked after", repair.after or "", fixed=True),
    )
    return RepairView(
        key,
        repair.title,
        repair.category,
        repair.effect_on_results,
        repair.symptom,
        repair.cause,
        repair.rationale,
        repair.patch,
        patch,
        facts,
    )


def _equality(artifact: Artifact) -> str:
    source = artifact.manifest.source
    if source is None or source.swhid is None:
        return "The manifest does not say which tree the code was made from."
    return (
        f"The code is declared to be the source tree {source.swhid} with these repairs applied; "
        "rra lint checks that."
    )


def _environment(
    artifact: Artifact, key: str, environment: Environment, built: Doc
) -> EnvironmentView:
    try:
        lock = artifact.lock
    except RraError:
        lock = None
    known = lock.environments.get(key) if lock else None
    as_of = environment.as_of or (known.as_of if known else None) or ""
    why = f" ({environment.as_of_why})" if as_of and environment.as_of_why else ""
    system = [
        f"{system}: {', '.join(names)}"
        for system, names in (environment.system_packages or {}).items()
    ]
    facts = (
        Fact("kind", environment.kind),
        Fact("built for this verification", _built(built)),
        Fact(
            "Python", built.text("python") or (known and known.python) or environment.python or ""
        ),
        Fact("packages", built.text("packages") or _packages(known)),
        Fact("as of", f"{as_of}{why}"),
        Fact("lock", built.text("lock") or (known.lock if known else ""), fixed=True),
        Fact("as installed", built.text("installed"), fixed=True),
        Fact("its own interpreter", built.text("interpreter"), fixed=True),
        Fact("requirements", (known and known.requirements) or "", fixed=True),
        Fact("platforms", ", ".join(environment.platforms or ())),
        Fact("system packages", "; ".join(system)),
        Fact("to build by hand", f"{layout.ENVIRONMENT_DIR}/{key}/README.md"),
    )
    return EnvironmentView(key, facts)


def _packages(known: EnvironmentLock | None) -> str:
    if known is None:
        return "not locked"
    return "locked" if known.packages is None else str(known.packages)


def _built(built: Doc) -> str:
    if not built:
        return ""
    return "yes" if built.text("ok") == "true" else f"no: {built.text('message')}"


def _lint(lint: Json | None) -> tuple[Found, ...] | None:
    if lint is None:
        return None
    found = []
    for item in Doc(lint).docs("findings"):
        places = [item.text(key) for key in ("path", "line", "column")]
        found.append(
            Found(
                item.text("rule"),
                _SEVERITY_TONES.get(item.text("severity"), "none"),  # type: ignore[arg-type]
                item.text("message"),
                (":".join(part for part in places if part),),
            )
        )
    return tuple(found)
