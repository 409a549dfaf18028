"""The management commands of the app `dlq`."""
