# where the arrays live; the group disk is mounted under my home
WORK = '/home/agnes/work/wine'

# results go into the repository so that they get committed
RESULTS = 'results'
