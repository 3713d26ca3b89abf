"""Memory over HTTP: REST for programs, a gateway for OpenAI clients, and what operators need."""
