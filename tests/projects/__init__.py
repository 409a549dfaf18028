"""Django projects that are not ours, into which tests put our apps."""
