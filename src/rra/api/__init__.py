"""One typed function for each verb; the command line and other programs call the same.

Every function returns a frozen result with ``ok``, ``exit_code``, ``problems`` and
``to_json()``, and raises only errors of `rra.errors`. Nothing here prints, asks or exits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rra._base.lazy import lazy_names

if TYPE_CHECKING:
    from rra.api._attach import attach
    from rra.api._audit import audit
    from rra.api._claims_suggest import claims_suggest
    from rra.api._copy import copy
    from rra.api._diff import diff
    from rra.api._doctor import doctor
    from rra.api._env_build import env_build
    from rra.api._env_check import env_check
    from rra.api._env_diff import env_diff
    from rra.api._env_explain import env_explain
    from rra.api._env_wheels import env_wheels
    from rra.api._evidence_attest import evidence_attest
    from rra.api._evidence_diff import evidence_diff
    from rra.api._evidence_gc import evidence_gc
    from rra.api._evidence_import import evidence_import
    from rra.api._evidence_list import evidence_list
    from rra.api._evidence_show import evidence_show
    from rra.api._evidence_verify import evidence_verify
    from rra.api._explain import explain
    from rra.api._guide import guide
    from rra.api._init import init
    from rra.api._inspect import inspect
    from rra.api._key_generate import key_generate
    from rra.api._key_show import key_show
    from rra.api._lint import lint
    from rra.api._lock import lock
    from rra.api._next import next  # noqa: A004 - the verb's name
    from rra.api._pack import pack
    from rra.api._pull import pull
    from rra.api._push import push
    from rra.api._registry_check import registry_check
    from rra.api._registry_list import registry_list
    from rra.api._registry_login import registry_login
    from rra.api._registry_logout import registry_logout
    from rra.api._registry_tags import registry_tags
    from rra.api._repair import repair
    from rra.api._report import report
    from rra.api._run import run
    from rra.api._scan import scan
    from rra.api._spec_conformance import spec_conformance
    from rra.api._spec_migrate import spec_migrate
    from rra.api._spec_schema import spec_schema
    from rra.api._spec_versions import spec_versions
    from rra.api._status import status
    from rra.api._trace import trace
    from rra.api._unpack import unpack
    from rra.api._update import update
    from rra.api._verify import verify

__all__ = [
    "attach",
    "audit",
    "claims_suggest",
    "copy",
    "diff",
    "doctor",
    "env_build",
    "env_check",
    "env_diff",
    "env_explain",
    "env_wheels",
    "evidence_attest",
    "evidence_diff",
    "evidence_gc",
    "evidence_import",
    "evidence_list",
    "evidence_show",
    "evidence_verify",
    "explain",
    "guide",
    "init",
    "inspect",
    "key_generate",
    "key_show",
    "lint",
    "lock",
    "next",
    "pack",
    "pull",
    "push",
    "registry_check",
    "registry_list",
    "registry_login",
    "registry_logout",
    "registry_tags",
    "repair",
    "report",
    "run",
    "scan",
    "spec_conformance",
    "spec_migrate",
    "spec_schema",
    "spec_versions",
    "status",
    "trace",
    "unpack",
    "update",
    "verify",
]


__getattr__, __dir__ = lazy_names(__name__, {f"_{name}": (name,) for name in __all__})
