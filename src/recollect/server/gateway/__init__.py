"""The OpenAI-compatible gateway: any client gets memory by changing its base URL."""
