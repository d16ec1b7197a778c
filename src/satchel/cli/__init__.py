"""The command line: each command parses, calls the core, and prints what it says."""

from typing import TYPE_CHECKING

from satchel._lazy import lazy_door
from satchel.cli._app import main

if TYPE_CHECKING:
    from satchel.cli._approval import ask_in_terminal

__all__ = ["ask_in_terminal", "main"]

__getattr__ = lazy_door(__name__, {"_approval": "ask_in_terminal"})
