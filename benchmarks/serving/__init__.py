"""A server under load: rates, memory, start-up, each beside servers of others."""
