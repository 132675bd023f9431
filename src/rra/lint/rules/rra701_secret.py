from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from rra.lint.context import Context, TextFile
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule

_FILES = {
    ".env": "environment variables",
    ".netrc": "passwords",
    "_netrc": "passwords",
    ".git-credentials": "passwords",
    ".pypirc": "registry passwords",
    ".pgpass": "passwords",
    ".htpasswd": "passwords",
    "id_rsa": "a private key",
    "id_dsa": "a private key",
    "id_ecdsa": "a private key",
    "id_ed25519": "a private key",
    "kaggle.json": "a token",
}
_PLACES = {(".aws", "credentials"), (".docker", "config.json"), (".git", "config")}
_TOKENS = {
    "AWS access key": r"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])",
    "GitHub token": r"(?<![\w])(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{60,255})",
    "GitLab token": r"(?<![\w-])glpat-[\w-]{20,64}",
    "Slack token": r"(?<![\w-])xox[abprs]-[\w-]{20,255}",
    "Hugging Face token": r"(?<![\w])hf_[A-Za-z]{34}(?![A-Za-z0-9])",
    "Google API key": r"(?<![\w-])AIza[\w-]{35}(?![\w-])",
    "model provider key": r"(?<![\w-])sk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{32,255}",
    "PyPI token": r"(?<![\w-])pypi-AgE[\w-]{50,255}",
    "npm token": r"(?<![\w])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])",
    "payment key": r"(?<![\w])[rs]k_live_[A-Za-z0-9]{20,99}",
    "Weights & Biases key": r"(?i)wandb_api_key[\"' ]{0,3}[:=][\"' ]{0,3}[0-9a-f]{40}(?![0-9a-f])",
    "private key": r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----",
}
#: Text without which there is none of a kind, in small letters: quicker to look for than a pattern.
_MARKS = {
    "AWS access key": ("akia", "asia"),
    "GitHub token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    "GitLab token": ("glpat-",),
    "Slack token": ("xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-"),
    "Hugging Face token": ("hf_",),
    "Google API key": ("aiza",),
    "model provider key": ("sk-",),
    "PyPI token": ("pypi-age",),
    "npm token": ("npm_",),
    "payment key": ("k_live_",),
    "Weights & Biases key": ("wandb_api_key",),
    "private key": ("-----begin ",),
}
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _TOKENS.items()}
_URL = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]{1,12})://(?P<user>[^\s/:@\"'<>{}$%]{0,64}):"
    r"(?P<password>[^\s/:@\"'<>]{3,128})@[\w.-]"
)
_BLANKS = {"password", "pass", "passwd", "pw", "secret", "token", "changeme", "xxx", "xxxx", "***"}
_EXAMPLES = (".example", ".sample", ".template", ".dist")


class Secret(Rule):
    """A file that would be shared holds a secret.

    ## What it does

    Looks through every text file that would be shared for tokens of well-known services,
    private keys and passwords in addresses, and for files that hold nothing else, such as
    `.env`, `.netrc` or `id_rsa`. Only the first characters of what was found are shown.
    Binary files and text files above 2 MiB are not looked through.

    ## Why is this bad?

    What is shared cannot be taken back. Tokens in published archives are found by machines
    within minutes.

    ## How to fix

    Revoke the secret first: it may have been seen. Then let the code read it from an
    environment variable, name that variable under `secrets` of the launcher, and leave the
    file out with `code.exclude`.

    ## Example

    Bad:

    ```text title="code/.env"
    DATABASE_PASSWORD=correct-horse
    ```

    Good:

    ```text title="code/.env.example"
    DATABASE_PASSWORD=
    ```
    """

    code = "RRA701"
    name = "secret"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "bundle/no-secrets"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield files that are secrets, then secrets in files."""
        for path in context.files:
            what = _secret_file(path)
            if what and context.size(path):
                hint = "revoke what is in it, then leave it out with code.exclude"
                yield self.at(path, f"is a file that holds {what}", hint=hint)
        for file in context.texts():
            yield from self._in_file(file)

    def _in_file(self, file: TextFile) -> Iterator[Finding]:
        hint = "revoke it, and let the code take it from an environment variable"
        small = file.text.lower()
        for kind, pattern in _PATTERNS.items():
            if not any(mark in small for mark in _MARKS[kind]):
                continue
            for match in pattern.finditer(file.text):
                shown = "" if kind == "private key" else f" ({match.group()[:4]}…)"
                yield self.in_text(file, match.start(), f"looks like a {kind}{shown}", hint=hint)
        if "://" not in small or "@" not in small:
            return
        for match in _URL.finditer(file.text):
            if not _is_blank(match["password"]):
                host = file.text[match.end() - 1 :].split("/")[0].split()[0]
                message = f"password in an address ({match['scheme']}://…@{host[:60]})"
                yield self.in_text(file, match.start(), message, hint=hint)


def _secret_file(path: PurePosixPath) -> str:
    if path.parts[-2:] in _PLACES:
        return "passwords"
    if path.name.startswith(".env.") and not path.name.endswith(_EXAMPLES):
        return _FILES[".env"]
    return _FILES.get(path.name, "")


def _is_blank(password: str) -> bool:
    """Tell a placeholder or a variable from a password."""
    if any(character in password for character in "${}<>"):
        return True
    return password.lower().strip("*x") == "" or password.lower() in _BLANKS
