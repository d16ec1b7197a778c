from tools import pens, inks
import helper
print(pens, inks, helper)
