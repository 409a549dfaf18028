"""QUEUE triggers: each message starts an execution, and is acknowledged after the commit."""
