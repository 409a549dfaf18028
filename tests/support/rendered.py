"""What the test client keeps of a page: the context of each template that was rendered by itself.

Django's copies the context of every template, those that a page includes and extends too: about a
hundred copies of everything that is known to a page, a tenth of the work.
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
    """Leave out what is part of another template."""
    if context.template is template:
        _store(store, signal, sender, template, context, **more)


def install() -> None:
    """Let test clients keep no more than that."""
    client.store_rendered_templates = _store_outermost  # type: ignore[attr-defined]
