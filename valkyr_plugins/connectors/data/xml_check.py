"""Looks an XML text over before it is read: well formed, not too deep, and without entities.

Entities are how XML attacks: ones that multiply (a billion laughs), and ones that stand for a file
or an address. No feed or interface of today needs them, so that a document with its own fails.
"""

from xml.parsers import expat

from runners.public.modules import StepError

MAX_DEPTH = 256


def require_harmless(text: str) -> None:
    """StepError for what should not be read; it names the line and column of what is malformed."""
    parser = expat.ParserCreate("utf-8")
    # Chunks of text need no look, and whole ones take fewer calls.
    parser.buffer_text = True
    _bound_depth(parser)
    parser.EntityDeclHandler = _declared
    parser.SkippedEntityHandler = _skipped
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise StepError(
            f"the text is not XML at line {error.lineno}, column {error.offset + 1}: {reason}"
        ) from None


def _bound_depth(parser: expat.XMLParserType) -> None:
    depth = 0

    def started(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise StepError(f"the XML nests more than {MAX_DEPTH} deep: flatten it")

    def ended(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartElementHandler = started
    parser.EndElementHandler = ended


def _declared(name: str, *_: object) -> None:
    raise StepError(
        f"the XML declares entities ({name[:50]!r}), which are not read: write out what they "
        "stand for"
    )


def _skipped(name: str, is_parameter: bool) -> None:
    raise StepError(
        f"the XML uses the entity {name[:50]!r}, which it does not declare; other documents are "
        "not fetched"
    )
