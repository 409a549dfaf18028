"""Workers: registration, shutdown, their queues, and their current runs."""
