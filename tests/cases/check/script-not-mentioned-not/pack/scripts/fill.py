import forms
from lib import pages
