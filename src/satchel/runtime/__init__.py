"""The only room that knows all below: Satchel, its sessions, and the earlier API."""

from satchel.runtime.front import Satchel
from satchel.runtime.session import Session
from satchel.runtime.why import Why

__all__ = ["Satchel", "Session", "Why"]
