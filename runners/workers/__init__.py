"""Workers: registration, shutdown, the queues they serve, and what each does right now."""
