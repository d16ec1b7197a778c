"""Count by a rule."""

import ast
import sys

rule = sys.argv[1]
print(ast.literal_eval(rule))
print(eval("1 + 1"))
