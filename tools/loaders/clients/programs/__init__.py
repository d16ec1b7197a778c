"""What runs inside a Python client's own environment."""
