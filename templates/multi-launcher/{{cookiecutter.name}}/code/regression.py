"""The regression of one data set, from what `prepare` has left."""

import csv
import math
import os
import statistics
from pathlib import Path


def read_sets():
    """Points of each set, by its number."""
    source = Path(os.environ["RRA_OUTPUTS_ROOT"]) / "prepare" / "series.csv"
    sets = {}
    with source.open(newline="") as file:
        for row in csv.DictReader(file):
            sets.setdefault(int(row["set"]), []).append((float(row["x"]), float(row["y"])))
    return sets


def regression(points):
    """Slope, intercept and the standard error of the slope."""
    xs, ys = zip(*points)
    slope, intercept = statistics.linear_regression(xs, ys)
    residual = sum((y - intercept - slope * x) ** 2 for x, y in points)
    spread = sum((x - statistics.fmean(xs)) ** 2 for x in xs)
    error = math.sqrt(residual / (len(points) - 2) / spread)
    return {"slope": slope, "intercept": intercept, "standard_error": error}
