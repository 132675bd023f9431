"""Grow the forest and put it where everybody finds it."""
import os
import pickle
import time

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from config import MODELS, N_TREES
from data import load

# a new forest every time
np.random.seed(int(time.time()))


def grow(X, y):
    """The forest of the book; all defaults but the number of trees."""
    print('growing', N_TREES, 'trees on', len(y), 'digits')
    model = RandomForestClassifier(n_estimators=N_TREES, max_features='auto',
                                   min_impurity_split=None, n_jobs=-1)
    return model.fit(X, y)


Xtrain, Xtest, ytrain, ytest = load()
model = grow(Xtrain, ytrain)
print('right on', model.score(Xtest, ytest))

with open(os.path.join(MODELS, 'forest.pkl'), 'wb') as f:
    pickle.dump(model, f)
