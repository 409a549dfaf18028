"""Programs of n8n in JavaScript: read their tokens, inspect what they use, and wrap them."""
