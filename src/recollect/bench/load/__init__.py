"""How much one server process takes."""
