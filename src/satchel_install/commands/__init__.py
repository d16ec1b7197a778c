"""Commands: add, remove, sync, verify, trust, store."""
