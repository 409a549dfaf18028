"""One process that runs steps: its identity, memory and connection, and why it ended."""
