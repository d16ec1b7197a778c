"""The guard: who may call a server, and what one caller may use of it."""
