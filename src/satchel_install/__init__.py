"""Skills from anywhere into a project: wanted, locked, installed, verified."""
