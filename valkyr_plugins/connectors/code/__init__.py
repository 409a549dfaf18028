"""`python.code`: run code of workflows in isolation."""
