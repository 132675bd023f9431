#!/usr/bin/env bash
# Table 1: leave-one-out accuracy of LDA, QDA and 1-NN on the wine data.
#
#   bash launchers/table1.sh
#
# Works with and without rra. Needs `python` of the environment `cpu` on PATH; see
# environment/cpu/README.md. Leaves metrics.json and accuracy.csv in outputs/table1/.
set -euo pipefail

id=table1
artifact=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

if ! command -v python >/dev/null; then
  echo "$id: no python on PATH; make the environment first: environment/cpu/README.md" >&2
  exit 69
fi

: "${RRA_OUTPUTS_ROOT:=$artifact/outputs}"
: "${RRA_OUTPUT_DIR:=$RRA_OUTPUTS_ROOT/$id}"
export RRA_OUTPUTS_ROOT RRA_OUTPUT_DIR
# One thread: the same sums in the same order on every machine.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# The code writes into its own folder, so it runs in a private copy. Under rra the copy is
# made already and RRA_CODE_DIR names it.
if [ -z "${RRA_CODE_DIR:-}" ]; then
  copy=$(mktemp -d)
  trap 'rm -rf -- "$copy"' EXIT
  cp -R -- "$artifact/code/." "$copy/"
  RRA_CODE_DIR=$copy
  rm -rf -- "$RRA_OUTPUT_DIR"
fi
export RRA_CODE_DIR
mkdir -p -- "$RRA_OUTPUT_DIR"
cd -- "$RRA_CODE_DIR"

# In this order: the README of the code lists them the other way round.
python prepare.py
python classify.py

cp -- results/metrics.json results/accuracy.csv "$RRA_OUTPUT_DIR/"
