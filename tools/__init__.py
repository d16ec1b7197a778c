"""Commands for those who work on Satchel; no part of what is installed."""
