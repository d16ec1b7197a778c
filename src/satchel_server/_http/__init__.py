"""What is answered over HTTP besides MCP: the API, discovery, health, metrics."""
