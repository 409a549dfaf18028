"""QUEUE triggers: a broker's messages become executions, each acknowledged after its commit."""
