"""Resolve a `$ref` or `$dynamicRef` of a JSON schema.

Relies on: `Validator._resolver.lookup(reference)`, which returns `contents` and `resolver`, and
`Validator.evolve(_resolver=…)` (jsonschema 4.18 to 4.26).
No public way: jsonschema's own keyword functions reach the resolver only through the validator.
If it breaks: schemas with `unevaluatedProperties` or `unevaluatedItems` and a reference cannot be
checked; payloads for them are rejected with an error.
"""

from typing import Any


def referenced(validator: Any, reference: str) -> tuple[Any, Any]:
    """Return the schema that a reference names, and a validator for this schema."""
    resolved = validator._resolver.lookup(reference)
    there = validator.evolve(schema=resolved.contents, _resolver=resolved.resolver)
    return resolved.contents, there
