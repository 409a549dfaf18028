"""Features of the format that this version does not run yet: known by name, refused by name."""

from collections.abc import Mapping

# By the part of the document that holds the key.
UNSUPPORTED_KEYS: Mapping[str, Mapping[str, str]] = {
    "task": {"credential": "workspace credentials"},
    "module": {"credential": "workspace credentials"},
}
# Names of templates that mean something only together with the features above.
UNSUPPORTED_NAMES: Mapping[str, str] = {"secrets": "secrets"}


def not_supported(name: str, what: str) -> str:
    """The sentence that refuses a feature."""
    return f'"{name}" ({what}) is not supported yet; remove it to publish this workflow'
