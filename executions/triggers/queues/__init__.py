"""QUEUE triggers: messages of a broker become executions, each acknowledged after its commit."""
