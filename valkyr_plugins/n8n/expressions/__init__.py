"""n8n's JavaScript expressions, the simple ones, as expressions of our templates."""
