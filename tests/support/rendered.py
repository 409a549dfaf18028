"""The test client's record of a page: only the contexts of templates that were rendered directly.

Django copies the context of every template, including included and extended ones: about a hundred
copies of all of a page's variables, a tenth of the work.
"""

from typing import Any

from django.template import Context, Template
from django.test import client

_store = client.store_rendered_templates  # type: ignore[attr-defined]


def _store_outermost(
    store: dict[str, Any],
    signal: Any,
    sender: Any,
    template: Template,
    context: Context,
    **more: Any,
) -> None:
    """Leave out contexts of templates that are part of another one."""
    if context.template is template:
        _store(store, signal, sender, template, context, **more)


def install() -> None:
    """Let test clients record only the outermost contexts."""
    client.store_rendered_templates = _store_outermost  # type: ignore[attr-defined]
