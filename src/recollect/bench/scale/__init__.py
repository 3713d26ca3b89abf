"""How it does with a great many rows and users, part by part."""
