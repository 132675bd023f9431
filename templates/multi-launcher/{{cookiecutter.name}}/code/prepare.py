"""Bring the four data sets into one form: a line for each point, with the number of its set."""

import csv
import os
from pathlib import Path

COLUMNS = {1: ("x123", "y1"), 2: ("x123", "y2"), 3: ("x123", "y3"), 4: ("x4", "y4")}


def main():
    source = Path(os.environ["RRA_DATA_DIR"]) / "quartet.csv"
    with source.open(newline="") as file:
        rows = list(csv.DictReader(file))
    target = Path(os.environ["RRA_OUTPUT_DIR"]) / "series.csv"
    with target.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["set", "x", "y"])
        for number, (x, y) in COLUMNS.items():
            writer.writerows([number, row[x], row[y]] for row in rows)
    print(f"{len(COLUMNS)} sets of {len(rows)} points")


if __name__ == "__main__":
    main()
