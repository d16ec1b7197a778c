"""What others can test their own parts with."""

from satchel.testing.contract import ESCAPES, PACKS, Packs, SourceContract

__all__ = ["ESCAPES", "PACKS", "Packs", "SourceContract"]
