"""From a name, an address or a line of a licence to the texts that are to be looked for."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from rra.author.anonymous.identifier import Identifier, Kind, fold

GAP = "\u200b"
"""Stands in an order of words for whatever may separate two names, or nothing."""

EMAIL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._%+-]*@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}")

CORPORATE = re.compile(
    r"\b(?:inc|ltd|llc|gmbh|corp|corporation|company|foundation|universit\w*|institut\w*|college"
    r"|laborator\w*|labs?|school|department|regents|developers|contributors|authors|team|project"
    r"|group|cent(?:er|re)|hospital|academy|consortium|society|research)\b",
    re.IGNORECASE,
)
"""Words by which a name is that of many."""

_PARTICLES = {"von", "van", "der", "den", "de", "del", "della", "di", "da", "du", "la", "le", "ten"}
_PARTICLES |= {"zu", "zur", "dos", "das", "bin", "ibn", "al", "el", "af", "av"}
_SUFFIXES = {"jr", "jr.", "sr", "sr.", "ii", "iii", "iv", "phd", "ph.d.", "md"}
_NOBODY = {
    "anonymous", "anon", "author", "authors", "the authors", "unknown", "none", "nobody",
    "your name", "name", "user", "username", "contributors", "name of author", "fullname",
    "name of copyright owner", "free software foundation, inc", "the apache software foundation",
    "free software foundation", "creative commons", "first last", "firstname lastname",
}  # fmt: skip
_GENERIC = {
    "admin", "author", "authors", "bot", "build", "builder", "code", "contact", "contrib", "core",
    "data", "debian", "default", "demo", "dev", "develop", "developer", "docker", "ec2-user",
    "example", "fedora", "git", "github", "gitlab", "group", "guest", "hello", "help", "home",
    "host", "info", "jovyan", "lab", "labs", "linux", "local", "localdomain", "localhost", "mail",
    "main", "master", "name", "nobody", "noreply", "none", "office", "paper", "pi", "project",
    "projects", "public", "python", "repo", "research", "root", "rra", "runner", "science",
    "server", "shared", "src", "support", "system", "team", "test", "tester", "testing", "tests",
    "tmp", "ubuntu", "unknown", "user", "username", "users", "vagrant", "vm", "work", "worker",
    "workspace", "www", "you", "yourname", "your-name", "your_name", "linuxbrew",
}  # fmt: skip
_MAIL_HOSTS = {
    "gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "yahoo.com", "icloud.com",
    "protonmail.com", "proton.me", "gmx.de", "gmx.net", "web.de", "qq.com", "163.com", "126.com",
    "aol.com", "live.com", "me.com", "mail.ru", "yandex.ru", "users.noreply.github.com",
    "example.com", "example.org", "example.net", "localhost.localdomain", "python.org",
    "github.com", "gitlab.com",
}  # fmt: skip
_SECOND_LEVEL = {"ac", "edu", "co", "com", "org", "gov", "go", "or", "ne", "net"}
_ALSO_WORDS = {
    "art", "baker", "banks", "bayes", "bell", "bernoulli", "best", "bishop", "black", "brown",
    "cauchy", "chase", "church", "cook", "cross", "dawn", "day", "dean", "dirichlet", "dot", "drew",
    "euler", "fields", "fisher", "forest", "fourier", "gamma", "gauss", "gold", "good", "grace",
    "gray", "green", "guy", "hamilton", "hand", "head", "hess", "hill", "hope", "house", "hunter",
    "iris", "jordan", "joy", "kalman", "key", "king", "lane", "laplace", "law", "long", "lord",
    "love", "major", "mark", "markov", "marsh", "mason", "max", "may", "miller", "moon", "newton",
    "norm", "page", "park", "pat", "pearson", "poisson", "pope", "potter", "power", "powers",
    "price", "ray", "rich", "rivers", "rob", "rose", "sharp", "shepherd", "short", "silver",
    "small", "snow", "star", "stone", "strong", "student", "sue", "summer", "victor", "waters",
    "weeks", "white", "will", "winter", "wood", "woods", "young",
}  # fmt: skip
_LEAST_FAMILY = 2
_LOWER_FAMILY = 5
_LEAST_ACCOUNT = 3
_LEAST_GIVEN = 3


@dataclasses.dataclass(slots=True)
class Words:
    """Neutral words, one for each person and place, counted in the order in which they come."""

    people: dict[str, int] = dataclasses.field(default_factory=dict)
    places: dict[str, int] = dataclasses.field(default_factory=dict)

    def person(self, text: str) -> str:
        """Return the word for a person or account."""
        return f"Anon{_number(self.people, text)}"

    def place(self, text: str) -> str:
        """Return the word for an institution."""
        return f"Institution{_number(self.places, text)}"


def _number(known: dict[str, int], text: str) -> int:
    return known.setdefault(fold(text), len(known) + 1)


def is_nobody(name: str) -> bool:
    """Tell whether a text in the place of a name names nobody."""
    plain = fold(name).strip(" <>[](){}.\"'")
    return not plain or plain in _NOBODY or plain.startswith("the authors of") or "⟦" in name


def person(name: str, words: Words, source: str, *, parts: bool = True) -> Iterator[Identifier]:
    """Yield what identifies a person: the name in any order of its words, and the family name.

    Args:
        name: ``Given Family`` or ``Family, Given``.
        words: Neutral words.
        source: Where the name was found.
        parts: Whether parts of the name are looked for as well.
    """
    name = " ".join(name.split()).strip(" ,;")
    if is_nobody(name):
        return
    if CORPORATE.search(name) or name.lower().startswith("the "):
        yield from institution(name, words, source)
        return
    neutral = words.person(name)
    given, family = split_name(name)
    orders = tuple(dict.fromkeys(_orders(given, family)))
    yield Identifier(name, Kind.PERSON, neutral, source, orders=orders)
    if not parts or not given or len(fold(family)) < _LEAST_FAMILY:
        return
    plain = fold(family)
    capital = plain.isascii() and (len(plain) < _LOWER_FAMILY or plain in _ALSO_WORDS)
    yield Identifier(family, Kind.FAMILY, neutral, source, capital=capital)
    first = given[0].rstrip(".")
    if len(first) >= _LEAST_GIVEN and fold(first) not in _ALSO_WORDS:
        yield Identifier(first, Kind.GIVEN, neutral, source, replaced=False)


def split_name(name: str) -> tuple[list[str], str]:
    """Return the given names and the family name of a person, particles with the latter."""
    if "," in name:
        family, _, rest = name.partition(",")
        given = [word for word in rest.split() if word.lower() not in _SUFFIXES]
        return given, family.strip()
    parts = [word for word in name.split() if word.lower() not in _SUFFIXES]
    start = len(parts) - 1
    while start > 1 and parts[start - 1].lower() in _PARTICLES and parts[start - 1].islower():
        start -= 1
    return parts[: max(start, 0)], " ".join(parts[max(start, 0) :])


def _orders(given: list[str], family: str) -> Iterator[str]:
    plain = [word.rstrip(".") for word in given]
    if not plain:
        return
    for names in (plain, plain[:1]):
        if all(len(word) == 1 and word.isascii() for word in names):
            continue
        yield GAP.join([*names, family])
        yield GAP.join([family, *names])
    initials = [f"{word[0]}." for word in plain]
    for names in (initials, initials[:1]):
        yield GAP.join([*names, family])
        yield GAP.join([family, *names])


def email(address: str, words: Words, source: str) -> Iterator[Identifier]:
    """Yield what an e-mail address identifies: itself, its account and its domain."""
    local, _, domain = address.rpartition("@")
    if not local or fold(domain) in {"example.com", "example.org", "example.net"}:
        return
    plain = local.rpartition("+")[2] if "noreply" in domain else local.partition("+")[0]
    neutral = words.person(plain)
    yield Identifier(address, Kind.EMAIL, f"{neutral.lower()}@example.org", source)
    yield from account(plain, words, source)
    yield from mail_domain(domain, source)


def account(name: str, words: Words, source: str) -> Iterator[Identifier]:
    """Yield the name of an account, unless many machines have one of that name."""
    if len(name) >= _LEAST_ACCOUNT and fold(name) not in _GENERIC and not name.isdigit():
        yield Identifier(name, Kind.HANDLE, words.person(name).lower(), source)


def mail_domain(domain: str, source: str) -> Iterator[Identifier]:
    """Yield the domain of an institution; hosts of everybody's mail are none."""
    labels = domain.lower().strip(".").split(".")
    count = 3 if len(labels) > 2 and labels[-2] in _SECOND_LEVEL and len(labels[-1]) == 2 else 2
    base = ".".join(labels[-count:])
    if len(labels) < 2 or base in _MAIL_HOSTS or domain.lower() in _MAIL_HOSTS:
        return
    yield Identifier(base, Kind.DOMAIN, "example.org", source)


def institution(name: str, words: Words, source: str) -> Iterator[Identifier]:
    """Yield an institution, or another holder of rights that is no person."""
    name = " ".join(name.split()).strip(" ,;.")
    if not is_nobody(name) and fold(name) not in _GENERIC:
        yield Identifier(name, Kind.INSTITUTION, words.place(name), source)


def host(name: str, source: str) -> Iterator[Identifier]:
    """Yield the name of a machine, with and without its domain."""
    for text in dict.fromkeys((name, name.partition(".")[0])):
        if len(text) >= _LEAST_ACCOUNT and fold(text) not in _GENERIC and not text.isdigit():
            yield Identifier(text, Kind.HOST, "host1", source, replaced=False)
