"""What can go wrong with an embedded server, in words for the person at the keyboard."""


class ServerError(Exception):
    """An embedded server cannot run; the message says what was found and what to do."""
