"""`python.code`: code that workflows bring along, run apart from everything."""
