"""Workers: their registration and shutdown, their queues, and their current runs."""
