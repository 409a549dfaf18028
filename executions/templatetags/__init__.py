"""Template tags of Valkyr's admin pages."""
