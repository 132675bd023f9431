import numpy as np


def ztransform(X):
    """Every variable to mean 0 and standard deviation 1."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def percent(hits):
    return 100.0 * np.sum(hits) / len(hits)


def show(name, hits):
    print '%-4s %5.1f %%  (%d of %d)' % (name, percent(hits), sum(hits), len(hits))
