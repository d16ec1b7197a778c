"""What is served over HTTP besides MCP: an API, discovery, health, figures."""
