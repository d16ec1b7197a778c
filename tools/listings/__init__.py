"""What real clients show of whole libraries: run them, fit rules, check the rules."""
