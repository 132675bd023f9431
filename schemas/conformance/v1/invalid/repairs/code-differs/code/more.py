print('more')
