"""One file for each way to print a report."""
