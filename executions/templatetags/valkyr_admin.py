"""Tags by which templates of the admin look right with Unfold and without it.

Django imports this module with its template engine, which Unfold needs before it is itself
imported: so the tags look into `executions.admin.skin` when they are used.
"""

from typing import Any

from django import template
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def admin_page(name: str, *args: Any) -> str:
    """The address of a page of ours in the admin, such as `dlq_failuregroup_changelist`."""
    from executions.addresses import admin

    return admin(name, *args)


@register.simple_tag
def skin_styles() -> Any:
    """The style sheets, for pages that show no model."""
    from executions.admin.skin import MEDIA

    return SafeString("\n".join(MEDIA.render_css()))


@register.simple_tag
def skin_fonts() -> Any:
    """The fonts of icons, for pages outside of the admin."""
    from executions.admin.skin import FONTS

    return SafeString("\n".join(FONTS.render_css()))


@register.simple_tag
def skin_scripts() -> Any:
    """The scripts, for pages that show no model."""
    from executions.admin.skin import MEDIA

    return SafeString("\n".join(MEDIA.render_js()))


@register.simple_tag
def skin_template(name: str) -> str:
    """The template for a purpose, such as a form's field."""
    from executions.admin.skin import TEMPLATES

    return TEMPLATES[name]
