"""How dead letters are chosen, listed and exported."""
