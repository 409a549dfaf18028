"""One process that runs steps: its identity, memory and connection, and the cause of its end."""
