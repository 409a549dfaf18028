"""Why a start was refused or given up, in words for the person at the keyboard."""


class UpError(Exception):
    """The stack cannot run; the message says what was found and what to do."""
