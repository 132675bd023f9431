"""Leave-one-out accuracy of LDA, QDA and 1-NN on the wine data."""
import csv
import json
import os
import sys

import numpy as np
from sklearn.model_selection import LeaveOneOut
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from config import RESULTS, WORK
from utils import percent, show, ztransform

OUT = os.path.join(RESULTS, 'accuracy.csv')
METRICS = os.path.join(RESULTS, 'metrics.json')

wine = np.load(os.path.join(WORK, 'wine.npz'))
X, y = wine['X'], wine['y']
Z = ztransform(X)

CLASSIFIERS = [
    ('lda', LinearDiscriminantAnalysis(), X),
    ('qda', QuadraticDiscriminantAnalysis(), X),
    ('1nn', KNeighborsClassifier(n_neighbors=1), Z),
]


def leave_one_out(clf, X, y):
    """One hit or miss per wine."""
    hits = []
    for train, test in LeaveOneOut().split(X):
        clf.fit(X[train], y[train])
        hits.append(clf.predict(X[test])[0] == y[test][0])
    return hits


rows = []
metrics = {}
for name, clf, data in CLASSIFIERS:
    hits = leave_one_out(clf, data, y)
    show(name, hits)
    rows.append((name, '%.1f' % percent(hits)))
    metrics[name] = {
        'accuracy': float(np.mean(hits)),
        'correct': int(np.sum(hits)),
        'wines': len(hits),
    }

with open(OUT, 'w') as f:
    out = csv.writer(f)
    out.writerow(['classifier', 'accuracy'])
    out.writerows(rows)

with open(METRICS, 'w') as f:
    json.dump(metrics, f, indent=1)
