"""Order of entry, Cp and number of Lasso steps for the diabetes data."""
from __future__ import print_function

import os
import time

import numpy as np
from sklearn.externals import joblib

from design import MODELS, response
from lars import cp, lars

# the quadratic Lasso took minutes on the old laptop
memory = joblib.Memory(cachedir='/scratch/jvdb/lars-cache', verbose=0)
lars = memory.cache(lars)


def true_r2(X, y, beta):
    """R2 of the model that is "true" in the simulation of section 3.3."""
    mu = np.dot(X, beta)
    eps = y - mu
    return np.dot(mu, mu) / (np.dot(mu, mu) + np.dot(eps, eps))


def report(model):
    X, y = MODELS[model](), response()
    order, path = lars(X, y)
    risk = cp(X, y, path)
    lasso_order, lasso_path = lars(X, y, lasso=True)

    lines = [
        'order of entry: ' + ' '.join(str(j) for j in order[:16]),
        'smallest Cp:    %.2f at step %d' % (risk.min(), risk.argmin()),
        'true R2:        %.3f' % true_r2(X, y, path[10]),
        'Lasso steps:    %d' % (len(lasso_path) - 1),
        't at the end:   %.2f' % abs(lasso_path[-1]).sum(),
    ]
    name = time.strftime('%Y-%m-') + model + '.txt'
    with open(os.path.join('results', name), 'w') as f:
        f.write('\n'.join(lines) + '\n')
    print('\n'.join(lines))


if __name__ == '__main__':
    report(raw_input('main or quadratic? '))
