from sklearn.cross_validation import train_test_split
from sklearn.datasets import load_digits


def load():
    """The same split as in the book: random_state=0, a quarter for the test."""
    digits = load_digits()
    return train_test_split(digits.data, digits.target, random_state=0)
