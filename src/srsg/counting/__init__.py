"""How many clusters there are."""
