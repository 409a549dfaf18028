"""What the entries of a group can differ in: to be counted by, and split by."""

from collections.abc import Mapping

from django.db.models import Func, TextField, Value
from django.db.models.expressions import Combinable, F
from django.db.models.functions import Cast, Coalesce

from dlq.groups.fingerprint import place_of
from dlq.models import DeadLetterEntry

# A column of an entry, and what people call it.
FACETS: Mapping[str, str] = {
    "version_number": "version",
    "worker": "worker",
    "http_status": "HTTP status",
    "target": "target",
    "exception": "exception",
    "step_path": "step",
}
LONGEST_LABEL = 400


def facets_of(entry: DeadLetterEntry) -> dict[str, str]:
    """Each facet of an entry, as text; empty where it has none."""
    values = {name: getattr(entry, name) for name in FACETS}
    found = {name: "" if value is None else str(value) for name, value in values.items()}
    return found | {"step_path": place_of(entry.step_path)}


def facet(name: str) -> Combinable:
    """The same in SQL; a step's path without its iterations."""
    if name == "step_path":
        return Func(
            F(name), Value(r"\[\d+\]"), Value("[]"), Value("g"),
            function="regexp_replace", output_field=TextField(),
        )  # fmt: skip
    return Coalesce(Cast(F(name), TextField()), Value(""), output_field=TextField())


def label(name: str, value: str) -> str:
    """What a part of a group is called by: `HTTP status 503`, `no target`."""
    text = f"{FACETS[name]} {value}" if value else f"no {FACETS[name]}"
    return text[:LONGEST_LABEL]
