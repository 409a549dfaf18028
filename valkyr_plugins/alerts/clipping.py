"""Other people's text as one line of a message: pure."""


def clipped(text: str, length: int) -> str:
    """One line of at most so many characters, without control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= length else f"{line[: length - 1]}…"
