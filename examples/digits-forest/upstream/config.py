# the disk of the course, everybody may write there
MODELS = '/srv/courses/ml17/models'

N_TREES = 1000
