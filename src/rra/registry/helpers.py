"""Credential helpers: programs that keep logins, one call for each, secrets by pipe only.

Source: the protocol of docker-credential-helpers (get, store, erase).
"""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

from rra._base import process
from rra.errors import ToolMissingError, UnavailableError, UsageError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_SECONDS = 60.0


class MissingHelperError(UsageError):
    """A credential file names a helper that is not there."""


@dataclasses.dataclass(frozen=True, slots=True)
class Helper:
    """A program that keeps logins.

    Attributes:
        name: The part of its name after ``docker-credential-``.
        path: The credential file that names it.
    """

    name: str
    path: Path

    @classmethod
    def named(cls, name: Any, path: Path) -> Helper:
        """Return the helper that a credential file names.

        Raises:
            UsageError: That is no name of a program.
        """
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            message = f"the credential file {path} names a helper that is no name: {name!r}"
            raise UsageError(message, hint="a helper is the part after docker-credential-")
        return cls(name, path)

    @property
    def program(self) -> str:
        """Name of the program."""
        return f"docker-credential-{self.name}"

    @property
    def place(self) -> str:
        """What messages call a login that it keeps."""
        return f"{self.program} ({self.path})"

    def get(self, key: str) -> tuple[str, str] | None:
        """Return user name and secret; None when it has nothing for the key.

        Raises:
            UsageError: The program is missing, fails, or answers something else.
        """
        done = self._run("get", key)
        if not done.ok:
            if _not_found(done):
                return None
            message = f"{self.program}, named in {self.path}, failed with exit code "
            message += str(done.returncode)
            raise UsageError(message, hint=f"try: echo {key} | {self.program} get")
        try:
            answer = json.loads(done.stdout_bytes)
            return str(answer["Username"]), str(answer["Secret"])
        except (ValueError, KeyError, TypeError, RecursionError):
            # Not chained: the text that could not be read may be a secret.
            message = f"{self.program}, named in {self.path}, answered something that is no "
            hint = f"try: echo {key} | {self.program} get"
            raise UsageError(f"{message}credential", hint=hint) from None

    def store(self, key: str, username: str, secret: str) -> None:
        """Keep a login.

        Raises:
            UsageError: The program is missing.
            UnavailableError: It refuses.
        """
        login = {"ServerURL": key, "Username": username, "Secret": secret}
        done = self._run("store", json.dumps(login, ensure_ascii=False))
        if not done.ok:
            raise self._refused("keep", done, secret)

    def erase(self, key: str) -> None:
        """Forget a login.

        Raises:
            UsageError: The program is missing.
            UnavailableError: It refuses.
        """
        done = self._run("erase", key)
        if not done.ok and not _not_found(done):
            raise self._refused("forget", done, "")

    def _run(self, action: str, given: str) -> process.Completed:
        try:
            return process.run([self.program, action], input_text=given, timeout=_SECONDS)
        except ToolMissingError as error:
            message = f"{self.path} says that {self.program} keeps the credential, but there is "
            hint = f"install {self.program}, or take the helper out of {self.path}"
            raise MissingHelperError(f"{message}no such program", hint=hint) from error
        except PermissionError as error:
            message = f"{self.program}, named in {self.path}, cannot be started"
            raise UsageError(message, hint="look at its mode and owner") from error

    def _refused(self, doing: str, done: process.Completed, secret: str) -> UnavailableError:
        said = " ".join(f"{done.stdout} {done.stderr}".split())[:200]
        forms = (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
        if secret and any(form in said for form in forms):
            said = ""  # it repeats what it was given
        message = f"{self.program}, named in {self.path}, does not {doing} the login"
        why = said or f"exit code {done.returncode}"
        hint = f"mend that program, or take it out of {self.path}"
        return UnavailableError(f"{message}: {why}", hint=hint)


def _not_found(done: process.Completed) -> bool:
    return "not found" in f"{done.stdout}\n{done.stderr}".lower()
