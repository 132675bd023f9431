"""The reader's policy file: whom to trust with what, and what has to be there. Fails closed.

A YAML document that the reader keeps; nothing of it travels with an artifact. Whatever is not
understood stops it from being used, so that a slip of the pen never trusts anybody.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rra._base.jsontext import parse_json
from rra._base.yaml import Key, YamlDocument
from rra._base.yaml import parse_bytes as parse_yaml_bytes
from rra.errors import FormatError, Problem, RraError, UsageError
from rra.signing.keys import PublicKey, read_public_key
from rra.signing.names import KINDS, kind_of, predicate_type
from rra.signing.trust import Identity, Signer, Trust, Verification

POLICY_TYPE = "rra-policy/v1"

_MAX_BYTES = 1024 * 1024
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+")
_TRUSTED_ROOT = "application/vnd.dev.sigstore.trustedroot+json;version=0.1"
_HINT = "correct the policy; as it stands nobody is trusted"
_TOP = ("type", "trust", "require", "trusted_root")
_SIGNER = ("name", "key", "identity", "issuer", "predicates")
_REQUIREMENT = ("predicate", "from", "count")


@dataclasses.dataclass(frozen=True, slots=True)
class Requirement:
    """What has to be there: so many statements of a kind, each by another trusted signer.

    Attributes:
        predicate_type: The kind of statement.
        count: How many different signers have to have made one.
        signers: Names of those who count; None for all who are trusted with the kind.
    """

    predicate_type: str
    count: int
    signers: frozenset[str] | None


@dataclasses.dataclass(frozen=True, slots=True)
class RequirementResult:
    """Whether a requirement is met.

    Attributes:
        requirement: What has to be there.
        signers: Names of the different signers that were found, sorted.
    """

    requirement: Requirement
    signers: tuple[str, ...]

    @property
    def met(self) -> bool:
        """Whether there are enough."""
        return len(self.signers) >= self.requirement.count

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        allowed = self.requirement.signers
        return {
            "predicate_type": self.requirement.predicate_type,
            "count": self.requirement.count,
            "from": None if allowed is None else sorted(allowed),
            "signers": list(self.signers),
            "met": self.met,
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Policy:
    """What a reader has decided.

    Attributes:
        trust: Whom to trust with what.
        require: What has to be there.
    """

    trust: Trust = dataclasses.field(default_factory=Trust)
    require: tuple[Requirement, ...] = ()

    def trusts(self, identity: Identity, predicate_type: str) -> bool:
        """Tell whether somebody is trusted with a kind of statement."""
        return self.trust.trusts(identity, predicate_type)

    def requirements(self, verifications: Iterable[Verification]) -> tuple[RequirementResult, ...]:
        """Say for each requirement whether these statements about one artifact meet it.

        Only trusted statements count, and each signer counts once however often they sign.
        """
        trusted = [
            (one.identity.name, one.statement.predicate_type)
            for one in verifications
            if one.trusted and one.identity is not None and one.statement is not None
        ]
        return tuple(
            RequirementResult(
                wanted,
                tuple(
                    sorted(
                        {
                            name
                            for name, predicate in trusted
                            if predicate == wanted.predicate_type
                            and (wanted.signers is None or name in wanted.signers)
                        }
                    )
                ),
            )
            for wanted in self.require
        )


def load_policy(path: Path) -> Policy:
    """Read a policy file, with the keys that it names; paths are relative to its folder.

    Raises:
        UsageError: The file cannot be read.
        FormatError: Something in it is not understood, or can never be met; all of it is listed.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"the policy {path} cannot be read: {error.strerror}", hint="check its path"
        ) from error
    if len(data) > _MAX_BYTES:
        raise FormatError(f"the policy {path} is larger than {_MAX_BYTES} bytes", hint=_HINT)
    if not data.strip():
        hint = f"write at least, which trusts nobody: type: {POLICY_TYPE}"
        raise FormatError(f"the policy {path} is empty", hint=hint)
    return _Reader(parse_yaml_bytes(data, source=str(path)), path.parent).policy()


class _Reader:
    """Reads one policy and gathers every fault with its place."""

    def __init__(self, document: YamlDocument, folder: Path) -> None:
        self._document, self._folder = document, folder
        self._problems: list[Problem] = []

    def policy(self) -> Policy:
        data = self._document.data
        if not isinstance(data, dict) or data.get("type") != POLICY_TYPE:
            path = ("type",) if isinstance(data, dict) else ()
            self._fault(path, f"a policy says type: {POLICY_TYPE}")
            self._refuse()
        self._only((), data, _TOP)
        root = self._trusted_root(data)
        placed = [
            (index, signer)
            for index, entry in enumerate(self._list(("trust",), data))
            if (signer := self._signer(("trust", index), entry)) is not None
        ]
        self._each_once(placed)
        signers = [signer for _, signer in placed]
        if root is None and any(signer.key is None for signer in signers):
            message = "identities are checked against a trusted_root, and none is named"
            self._fault(("trust",), message)
        require = [
            wanted
            for index, entry in enumerate(self._list(("require",), data))
            if (wanted := self._requirement(("require", index), entry, signers)) is not None
        ]
        self._refuse()
        return Policy(Trust(tuple(signers), root), tuple(require))

    def _fault(self, path: tuple[Key, ...], message: str) -> None:
        self._problems.append(self._document.problem(path, message, clause="policy"))

    def _has_fault_in(self, part: str) -> bool:
        """Tell whether a part cannot be relied on, so that no fault follows from it elsewhere."""
        return any(problem.pointer.startswith(f"/{part}") for problem in self._problems)

    def _refuse(self) -> None:
        if self._problems:
            count = len(self._problems)
            what = str(self._problems[0]) if count == 1 else f"{count} faults"
            raise FormatError(
                f"the policy cannot be used: {what}", hint=_HINT, problems=tuple(self._problems)
            )

    def _only(self, path: tuple[Key, ...], data: Mapping[Any, Any], known: tuple[str, ...]) -> None:
        for name in data:
            if name not in known:
                self._fault((*path, name), f"{name!r} is none of {', '.join(known)}")

    def _list(self, path: tuple[Key, ...], data: Mapping[Any, Any]) -> list[Any]:
        found = data.get(path[-1], [])
        if isinstance(found, list):
            return found
        self._fault(path, f"{path[-1]} is a list")
        return []

    def _text(self, path: tuple[Key, ...], data: Mapping[Any, Any]) -> str | None:
        """Return the text of a member; None where there is none, which is a fault."""
        found = data.get(path[-1])
        if isinstance(found, str) and found.strip():
            return found
        place = path if path[-1] in data else path[:-1]
        self._fault(place, f"{path[-1]} is missing, empty or not a text")
        return None

    def _trusted_root(self, data: Mapping[Any, Any]) -> Path | None:
        if "trusted_root" not in data:
            return None
        name = self._text(("trusted_root",), data)
        if name is None:
            return None
        path = self._folder / name
        try:
            with path.open("rb") as file:
                root = parse_json(file.read(_MAX_BYTES + 1)[:_MAX_BYTES], source=str(path)).data
        except (OSError, FormatError) as error:
            said = error.message if isinstance(error, FormatError) else error.strerror
            self._fault(("trusted_root",), f"{path} cannot be read: {said}")
            return path
        if not isinstance(root, dict) or root.get("mediaType") != _TRUSTED_ROOT:
            self._fault(("trusted_root",), f"{path} does not say mediaType: {_TRUSTED_ROOT}")
        return path

    def _signer(self, path: tuple[Key, ...], entry: Any) -> Signer | None:
        if not isinstance(entry, dict):
            self._fault(path, "an entry of trust has a name, a key or an identity, and predicates")
            return None
        before = len(self._problems)
        self._only(path, entry, _SIGNER)
        name = self._text((*path, "name"), entry)
        predicates = self._predicates((*path, "predicates"), entry)
        key, subject, issuer = None, None, None
        if "key" in entry and not {"identity", "issuer"} & set(entry):
            key = self._key((*path, "key"), entry)
        elif "key" not in entry:
            subject = self._text((*path, "identity"), entry)
            issuer = self._text((*path, "issuer"), entry)
        else:
            self._fault(path, "an entry of trust has either a key, or an identity and its issuer")
        if len(self._problems) > before or name is None:
            return None
        return Signer(name, predicates, key=key, subject=subject, issuer=issuer)

    def _key(self, path: tuple[Key, ...], entry: Mapping[Any, Any]) -> PublicKey | None:
        name = self._text(path, entry)
        if name is None:
            return None
        try:
            return read_public_key(self._folder / name)
        except RraError as error:
            self._fault(path, error.message)
            return None

    def _predicates(self, path: tuple[Key, ...], entry: Mapping[Any, Any]) -> frozenset[str]:
        found = entry.get("predicates")
        if not isinstance(found, list) or not found:
            place = path if "predicates" in entry else path[:-1]
            self._fault(place, "predicates is a list that says what the signer is trusted with")
            return frozenset()
        kinds = [self._kind((*path, index), kind) for index, kind in enumerate(found)]
        return frozenset(kind for kind in kinds if kind is not None)

    def _kind(self, path: tuple[Key, ...], kind: Any) -> str | None:
        if isinstance(kind, str) and kind in KINDS:
            return predicate_type(kind)
        if isinstance(kind, str) and _URI.fullmatch(kind):
            return kind
        self._fault(path, f"{kind!r} is neither a predicate type (a URI) nor {', '.join(KINDS)}")
        return None

    def _each_once(self, placed: list[tuple[int, Signer]]) -> None:
        seen: dict[object, int] = {}
        for index, signer in placed:
            who = signer.key.fingerprint if signer.key else (signer.subject, signer.issuer)
            for what, value in (("name", ("name", signer.name)), ("signer", who)):
                seen[value] = seen.get(value, 0) + 1
                if seen[value] == 2:
                    message = f"the same {what} is given twice: {signer.name}"
                    self._fault(("trust", index), message)

    def _requirement(
        self, path: tuple[Key, ...], entry: Any, signers: list[Signer]
    ) -> Requirement | None:
        if not isinstance(entry, dict):
            self._fault(path, "an entry of require has a predicate, and maybe from and count")
            return None
        before = len(self._problems)
        self._only(path, entry, _REQUIREMENT)
        kind = self._kind((*path, "predicate"), entry.get("predicate"))
        names = self._names((*path, "from"), entry)
        count = entry.get("count", 1)
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            self._fault((*path, "count"), "count is a whole number of at least 1")
        if len(self._problems) > before or kind is None or self._has_fault_in("trust"):
            return None
        able = {one.name for one in signers if one.may_state(kind)}
        said = kind_of(kind) or kind
        for name in sorted((names or frozenset()) - able):
            self._fault((*path, "from"), f"{name!r} is nobody who is trusted with {said}")
        if count > len(able if names is None else names & able):
            self._fault(path, f"fewer than {count} are trusted with {said}: it can never be met")
        return Requirement(kind, count, names)

    def _names(self, path: tuple[Key, ...], entry: Mapping[Any, Any]) -> frozenset[str] | None:
        if "from" not in entry:
            return None
        names = entry["from"]
        if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
            return frozenset(names)
        self._fault(path, "from is a list of names of trust")
        return frozenset()
