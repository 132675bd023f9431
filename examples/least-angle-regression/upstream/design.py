"""The two models of the paper as matrices."""
from itertools import combinations

import numpy as np
from sklearn.datasets import load_diabetes

from mystats import standardize


def response():
    """Progression of the disease, centred."""
    y = load_diabetes().target
    return y - y.mean()


def main_effects():
    """10 columns: age sex bmi map tc ldl hdl tch ltg glu, numbered from 1."""
    return standardize(load_diabetes().data)


def quadratic():
    """64 columns, section 3.3: main effects, 45 products, 9 squares (not of sex)."""
    X = main_effects()
    m = X.shape[1]
    columns = [X[:, j] for j in range(m)]
    columns += [X[:, i] * X[:, j] for i, j in combinations(range(m), 2)]
    columns += [X[:, j] ** 2 for j in range(m) if j != 1]
    return standardize(np.array(columns).T)


MODELS = {'main': main_effects, 'quadratic': quadratic}
