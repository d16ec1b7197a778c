"""TODO: say in one line what this does."""
print(1)
