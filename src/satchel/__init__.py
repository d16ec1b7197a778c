"""Satchel: carry every skill, unpack only what the task needs."""
