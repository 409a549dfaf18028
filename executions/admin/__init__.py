"""Admin pages of this app."""
