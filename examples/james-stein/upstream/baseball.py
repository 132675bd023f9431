"""18 batting averages and Stein's estimates of them."""
from __future__ import division, print_function

import csv

from stein import closer, mean, shrinkage, stein, total_error

# first 45 at bats and the rest of the season 1970
DATA = '/Users/hanna/Dropbox/statistics2/sheet7/batting-1970.csv'
AT_BATS = 45


def read():
    """Names, averages of the first 45 at bats, averages of the rest."""
    names, first, rest = [], [], []
    with open(DATA, 'rU') as f:
        for row in csv.DictReader(f):
            n = int(row['remaining_at_bats'])
            # three decimals are printed; the hits are whole
            hits = round(float(row['remaining_average']) * n)
            names.append(row['player'])
            first.append(int(row['hits']) / AT_BATS)
            rest.append(hits / n)
    return names, first, rest


def compare(first, rest, variance):
    """Averages against Stein's estimator."""
    guesses = stein(first, variance)
    mle, js = total_error(first, rest), total_error(guesses, rest)
    return guesses, {
        'grand average': mean(first),
        'shrinkage': shrinkage(first, variance),
        'error of averages': mle,
        'error of Stein': js,
        'ratio': mle / js,
        'closer': closer(guesses, first, rest),
    }


def main():
    names, first, rest = read()
    m = mean(first)
    guesses, summary = compare(first, rest, m * (1 - m) / AT_BATS)

    for key in sorted(summary):
        print('%-20s %7.3f' % (key, summary[key]))
    print()
    for row in zip(names, first, guesses, rest):
        print('%-12s %.3f   %.3f   %.3f' % row)


main()
