"""Stein's estimator that shrinks towards the mean of all."""
from __future__ import division


def mean(x):
    return sum(x) / len(x)


def shrinkage(x, variance):
    """c of the article: how much of the distance from the mean is kept."""
    k = len(x)
    m = mean(x)
    spread = sum((v - m) ** 2 for v in x)
    return 1 - (k - 3) * variance / spread


def stein(x, variance):
    """Each value, pulled towards the mean."""
    m = mean(x)
    c = shrinkage(x, variance)
    return [m + c * (v - m) for v in x]


def total_error(guesses, truth):
    """Total squared error."""
    return sum((g - t) ** 2 for g, t in zip(guesses, truth))


def closer(guesses, others, truth):
    """For how many players the first guess is closer than the other one."""
    return sum(abs(g - t) < abs(o - t) for g, o, t in zip(guesses, others, truth))
