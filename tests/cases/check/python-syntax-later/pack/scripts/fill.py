lazy import os

print(os.sep)
