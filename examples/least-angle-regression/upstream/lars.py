"""Least angle regression and the Lasso by it, sections 2 and 3.1 of the paper.

Equation numbers are those of the Annals. X has centred columns of length one.
"""
import numpy as np

# two correlations closer than this are one
TINY = 1e-9


def lars(X, y, lasso=False):
    """All steps: the signed order of entry and the coefficients after each step.

    A variable that leaves (only with lasso=True) is a negative number in the order.
    """
    n, m = X.shape
    G = np.dot(X.T, X)
    beta = np.zeros(m)
    mu = np.zeros(n)
    active, order, path = [], [], [beta.copy()]
    dropped = None
    while True:
        c = np.dot(X.T, y - mu)                                   # (2.8)
        if dropped is None:
            rest = [j for j in range(m) if j not in active]
            j = max(rest, key=lambda j: abs(c[j]))
            active.append(j)
            order.append(j + 1)
        C = max(abs(c[active]))                                   # (2.9)
        s = np.sign(c[active])

        # equiangular vector, (2.4) to (2.6)
        GA = s[:, None] * G[np.ix_(active, active)] * s
        w = np.linalg.solve(GA, np.ones(len(active)))
        A = 1 / np.sqrt(w.sum())
        w = A * w
        u = np.dot(X[:, active], s * w)
        a = np.dot(X.T, u)                                        # (2.11)

        # how far until another variable is as much correlated, (2.13)
        gamma = C / A if len(active) == m else np.Inf
        for j in range(m):
            if j not in active:
                for g in ((C - c[j]) / (A - a[j]), (C + c[j]) / (A + a[j])):
                    if TINY * C < g < gamma:
                        gamma = g

        # how far until a coefficient changes its sign, (3.4) and (3.5)
        d = np.zeros(m)
        d[active] = s * w
        dropped = None
        if lasso:
            for j in active:
                if d[j] != 0 and TINY * C < -beta[j] / d[j] < gamma:
                    gamma, dropped = -beta[j] / d[j], j

        beta = beta + gamma * d
        mu = mu + gamma * u                                       # (2.12)
        if dropped is not None:
            beta[dropped] = 0
            active.remove(dropped)
            order.append(-(dropped + 1))
        path.append(beta.copy())
        if dropped is None and len(active) == m:
            return order, np.array(path)


def cp(X, y, path):
    """Cp of each step, (4.10), with the residual variance of all columns."""
    n, m = X.shape
    rss = ((y[:, None] - np.dot(X, path.T)) ** 2).sum(axis=0)
    k = np.arange(len(path))
    return rss / (rss[-1] / (n - m - 1)) - n + 2 * k
