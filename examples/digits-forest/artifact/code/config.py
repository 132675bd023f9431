import os

# beside the code
MODELS = os.path.dirname(os.path.abspath(__file__))

N_TREES = 1000
