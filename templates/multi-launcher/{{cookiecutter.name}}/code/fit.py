"""Fit one of the data sets."""

import argparse
import json
import os
from pathlib import Path

from regression import read_sets, regression


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", type=int, default=1, choices=[1, 2, 3, 4])
    number = parser.parse_args().set
    result = regression(read_sets()[number])
    target = Path(os.environ["RRA_OUTPUT_DIR"]) / "metrics.json"
    target.write_text(json.dumps({"set": number, **result}, indent=2) + "\n")
    print(f"set {number}: y = {result['intercept']:.2f} + {result['slope']:.3f} x")


if __name__ == "__main__":
    main()
