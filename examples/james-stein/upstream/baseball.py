"""18 batting averages, by the article of 1977 and by that of 1975."""
from __future__ import division, print_function

import csv
import math

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


def arcsine(p):
    """Variance 1 for any p, (1975), and back."""
    return math.sqrt(AT_BATS) * math.asin(2 * p - 1)


def back(x):
    return (math.sin(x / math.sqrt(AT_BATS)) + 1) / 2


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
    plain, article77 = compare(first, rest, m * (1 - m) / AT_BATS)
    scaled, article75 = compare([arcsine(p) for p in first], [arcsine(p) for p in rest], 1)
    turned = [back(x) for x in scaled]

    print('%-20s %7s %7s' % ('', '1977', '1975'))
    for key in sorted(article77):
        print('%-20s %7.3f %7.3f' % (key, article77[key], article75[key]))
    print()
    for row in zip(names, first, plain, turned, rest):
        print('%-12s %.3f   %.3f %.3f   %.3f' % row)


main()
