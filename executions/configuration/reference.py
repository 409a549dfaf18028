"""The page of all settings, generated from their classes."""

import inspect
from collections.abc import Iterable, Iterator

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from executions.configuration.model import SettingsModel, about

BEGIN, END = "<!-- settings: begin -->", "<!-- settings: end -->"


def within(page: str, kinds: Iterable[type[SettingsModel]]) -> str:
    """Return the page; the part between the marks is generated again from `kinds`."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{chr(10).join(lines(kinds))}\n{END}{after}"


def lines(kinds: Iterable[type[SettingsModel]]) -> Iterator[str]:
    """Yield a heading, the docstring and a table for each class."""
    for kind in kinds:
        yield f"### {kind.title}\n"
        yield f"{inspect.getdoc(kind)}\n"
        yield "| setting | default | meaning |"
        yield "|---|---|---|"
        for name, field in kind.model_fields.items():
            yield f"| {name_of(name, field)} | {default_of(field)} | {field.description} |"
        yield ""


def name_of(name: str, field: FieldInfo) -> str:
    """Return a setting's name, with a mark if an environment variable of this name also sets it."""
    upper = name.upper()
    return f"`{upper}` *" if upper in about(field)["variables"] else f"`{upper}`"


def default_of(field: FieldInfo) -> str:
    """Return a setting's default in words."""
    given = about(field)
    if given["unset"]:
        return str(given["unset"])
    value = field.default
    if isinstance(value, bool):
        return "`True`" if value else "`False`"
    if isinstance(value, int | float):
        return f"{value:.15g}" + (f" {given['unit']}" if given["unit"] else "")
    if isinstance(value, tuple | SecretStr) or value == "":
        return "none"
    return f"`{value}`"
