"""Mean and t statistic of the sleep that ten patients gained with one drug over another."""

import csv
import json
import math
import os
import statistics
from pathlib import Path


def differences(path):
    """Hours gained with the second drug beyond the first, one for each patient."""
    with path.open(newline="") as file:
        return [float(row["second"]) - float(row["first"]) for row in csv.DictReader(file)]


def main():
    hours = differences(Path(os.environ["RRA_DATA_DIR"]) / "sleep.csv")
    mean = statistics.mean(hours)
    error = statistics.stdev(hours) / math.sqrt(len(hours))
    result = {"mean": mean, "t": mean / error, "patients": len(hours)}
    target = Path(os.environ["RRA_OUTPUT_DIR"]) / "metrics.json"
    target.write_text(json.dumps(result, indent=2) + "\n")
    print(f"mean difference {mean:.2f} h, t = {mean / error:.2f}, {len(hours)} patients")


if __name__ == "__main__":
    main()
