"""Skills from anywhere into a project: added, locked, installed, verified."""
