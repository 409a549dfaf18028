"""One process that runs steps: its identity, memory, database connection, and cause of death."""
