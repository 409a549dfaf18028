"""Select, list and export dead letters."""
