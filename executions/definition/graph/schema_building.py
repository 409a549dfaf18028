"""Short ways to write the parts of the definition's JSON Schema."""

from typing import Any

SLUG = r"^[A-Za-z0-9_][A-Za-z0-9_-]*$"
VARIABLE_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
CREDENTIAL_NAME = r"^[a-z][a-z0-9_]*$"

Schema = dict[str, Any]

UI: Schema = {"type": "object", "description": "For the studio; not part of the checksum."}


def an_object(description: str, properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    """An object of these properties and no others."""
    schema = {
        "type": "object",
        "description": description,
        "properties": properties,
        "additionalProperties": False,
    }
    return schema | ({"required": list(required)} if required else {})


def or_null(schema: Schema) -> Schema:
    """The same, or null for "none"."""
    return schema | {"type": [schema["type"], "null"]}


def text(description: str, maximum: int, **more: Any) -> Schema:
    """A text of at most `maximum` characters."""
    return {"type": "string", "description": description, "maxLength": maximum, **more}


def slug(description: str, maximum: int = 100) -> Schema:
    """An id made of letters, digits, _ and -."""
    return text(description, maximum, pattern=SLUG)


def number(description: str, least: float, most: float, kind: str = "number") -> Schema:
    """A number from `least` to `most`; `kind` is `number` or `integer`."""
    return {"type": kind, "description": description, "minimum": least, "maximum": most}


def whole(description: str, least: int, most: int) -> Schema:
    """A whole number from `least` to `most`."""
    return number(description, least, most, "integer")


def yes_or_no(description: str) -> Schema:
    """True or false."""
    return {"type": "boolean", "description": description}


def choice(description: str, options: list[str]) -> Schema:
    """One of some words."""
    return {"type": "string", "description": description, "enum": options}
