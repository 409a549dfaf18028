"""What stops the demo, in words for the person at the terminal."""


class DemoError(Exception):
    """The message names the thing, what was found and what to do."""
