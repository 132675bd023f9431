"""The table of the book for the forest that train.py has left."""
import os
import pickle

from sklearn import metrics

from config import MODELS
from data import load

Xtrain, Xtest, ytrain, ytest = load()
with open(os.path.join(MODELS, 'forest.pkl'), 'rb') as f:
    model = pickle.load(f)
ypred = model.predict(Xtest)

print(metrics.classification_report(ypred, ytest))
