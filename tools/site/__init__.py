"""The site: ``make site`` writes it to build/site, from docs/ and the docstrings."""
