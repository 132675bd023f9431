"""Written again for this artifact: the file of this name was never committed."""
import numpy as np


def standardize(X):
    """Columns with mean 0 and length 1, (1.1) of the paper."""
    X = X - X.mean(axis=0)
    return X / np.sqrt((X ** 2).sum(axis=0))
