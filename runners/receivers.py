"""What runs do when an execution is admitted, interrupted or resumed."""
