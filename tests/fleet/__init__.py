"""Several servers behind a balancer, on one registry and one database."""
