"""`python.code` and `javascript.code`: run code of workflows in isolation."""
