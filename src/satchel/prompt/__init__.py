"""Catalog and token budget in, prompt text out; nothing is read or remembered."""

from satchel.prompt.rendering import Format, WhenEmpty, render

__all__ = ["Format", "WhenEmpty", "render"]
