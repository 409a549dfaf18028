"""Translate simple JavaScript expressions of n8n into template expressions."""
