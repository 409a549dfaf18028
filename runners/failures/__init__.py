"""What a failure is: its class, its retry, its traceback."""
