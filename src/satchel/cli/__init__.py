"""The command line: each command parses, calls the core, and prints what it says."""

from satchel.cli.app import main

__all__ = ["main"]
