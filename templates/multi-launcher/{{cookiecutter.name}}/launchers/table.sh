#!/usr/bin/env bash
# Launcher table. Start it from anywhere: bash launchers/table.sh
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
RRA_OUTPUTS_ROOT=${RRA_OUTPUTS_ROOT:-$root/outputs}
mkdir -p -- "$RRA_OUTPUTS_ROOT"
RRA_OUTPUTS_ROOT=$(cd -- "$RRA_OUTPUTS_ROOT" && pwd -P)
if [ -z "${RRA_OUTPUT_DIR:-}" ]; then
  RRA_OUTPUT_DIR=$RRA_OUTPUTS_ROOT/table
  rm -rf -- "$RRA_OUTPUT_DIR"
fi
mkdir -p -- "$RRA_OUTPUT_DIR"
RRA_OUTPUT_DIR=$(cd -- "$RRA_OUTPUT_DIR" && pwd -P)
RRA_DATA_DIR=${RRA_DATA_DIR:-$root/data}
export RRA_OUTPUTS_ROOT RRA_OUTPUT_DIR RRA_DATA_DIR

if ! command -v python >/dev/null 2>&1; then
  printf '%s\n' 'launchers/table.sh: there is no python on PATH; environment/cpu/README.md says how to set it up' >&2
  exit 69
fi

run() {
  python table.py
}

if [ -n "${RRA_CODE_DIR:-}" ]; then
  # rra has made a private copy of the code, keeps what is printed, and collects.
  cd -- "$RRA_CODE_DIR"
  run
  exit 0
fi

# By hand: the same in a copy that is made here and removed at the end.
work=$(mktemp -d "${TMPDIR:-/tmp}/rra-table.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf -- "$work"' EXIT
export RRA_CODE_DIR="$work/code"
mkdir -- "$RRA_CODE_DIR"
shopt -s dotglob nullglob
for item in "$root"/code/*; do
  case ${item##*/} in
    .git) ;;
    *) cp -RPp -- "$item" "$RRA_CODE_DIR"/ ;;
  esac
done
cd -- "$RRA_CODE_DIR"

run | tee -- "$RRA_OUTPUT_DIR/stdout.txt"
