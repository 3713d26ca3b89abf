"""Memory for MCP clients: the same tools, resources and prompts over standard input and output, and over HTTP."""
