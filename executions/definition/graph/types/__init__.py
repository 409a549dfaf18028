"""What is known of values before anything runs: the types that modules' schemas promise."""
