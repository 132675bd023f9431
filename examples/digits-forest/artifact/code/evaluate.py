"""The table of the book for the forest that train.py has left."""
import csv
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

# the same with all digits, laid out like the printed table
report = metrics.classification_report(ypred, ytest, output_dict=True)
columns = ['precision', 'recall', 'f1-score', 'support']
with open('report.csv', 'w', newline='') as f:
    out = csv.writer(f)
    out.writerow(['class'] + columns)
    for name, values in report.items():
        if name == 'accuracy':
            out.writerow([name, '', '', values, len(ytest)])
        else:
            out.writerow([name] + [values[column] for column in columns])
