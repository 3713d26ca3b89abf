"""Who is calling: keys, tokens, and the one user of a machine of their own."""
