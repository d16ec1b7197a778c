"""Telling other programs where a server is: the block that each client's file wants.

Nothing here needs a server, nor what one needs.
"""

from satchel.serve.connect.clients import CLIENTS, Client
from satchel.serve.connect.reach import Http, Reach, Stdio
from satchel.serve.connect.writing import Written, block, connect

__all__ = ["CLIENTS", "Client", "Http", "Reach", "Stdio", "Written", "block", "connect"]
