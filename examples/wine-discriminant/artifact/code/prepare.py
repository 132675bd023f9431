"""Write the wine data as two arrays. Run this first."""
import os

import numpy as np
from sklearn.datasets import load_wine

from config import WORK

wine = load_wine()
X = wine.data.astype(float)
y = wine.target.astype(int)

np.savez(os.path.join(WORK, 'wine.npz'), X=X, y=y)
