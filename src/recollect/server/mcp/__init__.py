"""Memory for MCP clients: the same tools, resources and prompts over standard input and over HTTP."""
