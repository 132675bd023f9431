import os

# where the arrays live: beside the code, made when it is not there
WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'work')
if not os.path.isdir(WORK):
    os.makedirs(WORK)

# results go into the repository so that they get committed
RESULTS = 'results'
