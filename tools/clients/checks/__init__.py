"""The checks: one client a module."""
