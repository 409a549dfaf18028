"""Turn dead runs into dead letters."""
