#!/usr/bin/env bash
# Installs the npm packages of the second implementation (tests/conformance/node), at the versions
# and digests of its lock file, which names no address. tests/support/needs.py names this script
# where its test is skipped.
set -euo pipefail
cd "$(dirname "$0")/../tests/conformance/node"

if ! command -v npm >/dev/null; then
  echo "npm is missing: install it (apt-get install npm) and run tools/node_packages.sh again" >&2
  exit 3
fi
npm ci --ignore-scripts --no-audit --no-fund --omit-lockfile-registry-resolved
