"""Read the tokens of n8n's JavaScript programs, find the data that they use, and wrap them."""
