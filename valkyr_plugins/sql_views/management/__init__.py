"""Management commands of the plugin."""
