"""Template tags that let admin templates work with Unfold and without it.

Django imports this module with its template engine, before Unfold can be imported. So the tags
read `executions.admin.skin` only when they are used.
"""

from typing import Any

from django import template
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def admin_page(name: str, *args: Any) -> str:
    """Return the address of the admin page with a name such as `dlq_failuregroup_changelist`."""
    from executions.addresses import admin

    return admin(name, *args)


@register.simple_tag
def skin_styles() -> Any:
    """Return the style sheets for pages that do not belong to a model, as HTML."""
    from executions.admin.skin import MEDIA

    return SafeString("\n".join(MEDIA.render_css()))


@register.simple_tag
def skin_fonts() -> Any:
    """Return the style sheets of the icons' fonts, as HTML, for pages outside the admin."""
    from executions.admin.skin import FONTS

    return SafeString("\n".join(FONTS.render_css()))


@register.simple_tag
def skin_scripts() -> Any:
    """Return the scripts for pages that do not belong to a model, as HTML."""
    from executions.admin.skin import MEDIA

    return SafeString("\n".join(MEDIA.render_js()))


@register.simple_tag
def skin_template(name: str) -> str:
    """Return the name of the template for a purpose, such as a form's field."""
    from executions.admin.skin import TEMPLATES

    return TEMPLATES[name]


@register.simple_tag(takes_context=True)
def cell_choices(context: Any) -> Any:
    """Return the cells between which this admin page can switch; [] if there is no choice."""
    from executions.api.cell_routing import choices

    return choices(context["request"])
