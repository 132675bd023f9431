"""Fit all data sets and write one table."""

import csv
import os
from pathlib import Path

from regression import read_sets, regression


def main():
    target = Path(os.environ["RRA_OUTPUT_DIR"]) / "table.csv"
    with target.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["set", "slope", "intercept", "standard_error"])
        for number, points in read_sets().items():
            result = regression(points)
            writer.writerow([number, *(f"{value:.6f}" for value in result.values())])
            print(f"set {number}: standard error {result['standard_error']:.3f}")


if __name__ == "__main__":
    main()
