"""Messages to others: events of the workspace, and queues of brokers."""
