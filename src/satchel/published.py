"""Which version this is, and where Satchel is published: nowhere yet.

The commands that messages tell people to type, the links of the package page and its
addresses are made of the last two.
"""

# The only place of it: the package's metadata is made of this line. To ask installed
# metadata instead would take as long as half of a start.
VERSION = "0.1.0"

# The name in a package index. While it is empty, no text may tell anybody to install
# Satchel by name: somebody else could take that name.
NAME = ""

# The address of the repository, without a slash at the end.
REPOSITORY = ""
