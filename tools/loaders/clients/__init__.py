"""Clients: programs of others that a person starts, each run in a scratch project."""
