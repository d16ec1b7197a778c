"""Where Satchel is published: nowhere yet.

The commands that messages tell people to type, the links of the package page and its
addresses are made of these two.
"""

# The name in a package index. While it is empty, no text may tell anybody to install
# Satchel by name: somebody else could take that name.
NAME = ""

# The address of the repository, without a slash at the end.
REPOSITORY = ""
