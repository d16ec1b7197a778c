"""Telling other programs where a server is: the block that each client's file wants.

Nothing here needs a server, nor what one needs.
"""
