import sys

print('x'
