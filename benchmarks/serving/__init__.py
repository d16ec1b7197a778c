"""A server under load: rates, memory, start-up, each next to servers of others."""
