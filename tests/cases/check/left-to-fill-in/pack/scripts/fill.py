"""Say in a line what this does."""
print(1)
