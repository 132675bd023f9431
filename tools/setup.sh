#!/usr/bin/env bash
# Makes .venv from the hashed pins and installs the project in it, editable.
#
#   tools/setup.sh run   the rra command and what it needs (what `make demo` uses)
#   tools/setup.sh dev   that, the checks and the documentation tools (what `make setup` uses)
#
# Where packages come from is the business of whoever runs this: uv's own configuration counts,
# and where uv cannot reach its index, pip tries with its own. The digests decide in either case.
# Quick when nothing changed: a stamp in .venv holds the digest of all that was installed from.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:-dev}
venv=.venv
case $kind in
  run) pins=requirements/runtime.txt ;;
  dev) pins=requirements/dev.txt ;;
  *) echo "setup: '$kind' is neither run nor dev" >&2; exit 2 ;;
esac

if ! command -v git >/dev/null; then
  echo "setup: git is missing; install it (on Debian: apt-get install git) and try again" >&2
  exit 3
fi

# The first Python that is new enough and can make environments.
find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11 python; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
      >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
  echo "setup: no Python 3.11 or newer with the venv module was found; install one (on Debian:" >&2
  echo "       apt-get install python3 python3-venv) or name it: make setup PYTHON=/path/to/python3.12" >&2
  exit 3
}

wanted=$(cat tools/setup.sh pyproject.toml src/rra/__init__.py requirements/*.txt | git hash-object --stdin)
stamp() { cat "$venv/.rra-$1" 2>/dev/null || true; }

healthy() { "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
if healthy && { [ "$(stamp "$kind")" = "$wanted" ] || [ "$(stamp dev)" = "$wanted" ]; }; then
  exit 0
fi

if ! healthy; then
  python=$(find_python)
  echo "setup: making $venv with $("$python" --version)" >&2
  rm -rf "$venv"
  "$python" -m venv "$venv"
fi
rm -f "$venv"/.rra-*
pip=("$venv/bin/python" -m pip --disable-pip-version-check --no-input)
uv=("$venv/bin/uv" pip)
export VIRTUAL_ENV=$PWD/$venv

echo "setup: installing $pins" >&2
"${pip[@]}" install -qq --require-hashes --requirement requirements/bootstrap.txt
if [ "$kind" = dev ]; then
  install=(sync --require-hashes "$pins")
else
  install=(install --require-hashes --requirement "$pins")
fi
if ! "${uv[@]}" "${install[@]}" --quiet; then
  echo "setup: uv could not install the pins; trying pip with its own configuration" >&2
  "${pip[@]}" install --quiet --require-hashes --requirement "$pins"
fi
"${uv[@]}" install --quiet --offline --no-deps --no-build-isolation --reinstall-package rra --editable .
echo "$wanted" >"$venv/.rra-$kind"
echo "setup: done; the command is $venv/bin/rra" >&2
