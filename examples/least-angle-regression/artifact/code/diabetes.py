"""Order of entry, Cp and number of Lasso steps for the diabetes data."""
from __future__ import print_function

import json
import os
import time

import numpy as np

from design import MODELS, response
from lars import cp, lars


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
    with open(os.path.join('results', model + '.json'), 'w') as f:
        json.dump({
            'order': order,
            'cp': list(risk),
            'cp_step': int(risk.argmin()),
            'true_r2': float(true_r2(X, y, path[10])),
            'lasso_order': lasso_order,
            'lasso_steps': len(lasso_path) - 1,
            't_end': float(abs(lasso_path[-1]).sum()),
        }, f, indent=1)
    name = time.strftime('%Y-%m-') + model + '.txt'
    with open(os.path.join('results', name), 'w') as f:
        f.write('\n'.join(lines) + '\n')
    print('\n'.join(lines))


if __name__ == '__main__':
    import sys
    report(sys.argv[1])
