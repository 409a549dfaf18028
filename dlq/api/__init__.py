"""The HTTP API of the app `dlq`."""
