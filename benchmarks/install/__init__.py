"""What it costs to install skills, and to verify a load."""
