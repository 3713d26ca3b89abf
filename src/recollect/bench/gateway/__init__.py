"""What the gateway adds to a chat."""
