"""Packs from other formats, into other formats, and into the folders of clients.

Readers make drafts of what they read, each with findings about what could not be
carried over; one writer puts drafts into folders.
"""
