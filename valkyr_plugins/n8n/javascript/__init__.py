"""Programs of n8n in JavaScript: read their tokens, find the data they use, and wrap them."""
