"""The only room that knows all below: Satchel, its sessions, and the earlier API."""

from satchel.runtime.front import Satchel

__all__ = ["Satchel"]
