"""Count by a rule."""

import sys

rule = sys.argv[1]
print(eval(rule))
