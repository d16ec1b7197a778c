# TODO: faster
print(1)
