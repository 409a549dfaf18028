"""Report the code sandbox in `manage.py check` and `valkyr doctor`.

They check only this machine; each worker logs its own sandbox.
"""

from typing import Any

from django.core.checks import CheckMessage, Info, register
from django.core.checks import Warning as Advice
from django.core.exceptions import ImproperlyConfigured

from valkyr_plugins.connectors.conf import settings

BUILT_IN = "code of workflows runs in the built-in sandbox: {cause}"
REFUSED = (
    "VALKYR_CODE_SANDBOX is bubblewrap, so code of workflows is rejected on this machine: {cause}"
)
HINT = "See docs/how-to/code-sandbox.md: prefer bubblewrap, which is independently reviewed."


@register()
def code_sandbox(**_: Any) -> list[CheckMessage]:
    """Return a message if enabled code runs without Bubblewrap, or not at all; otherwise []."""
    try:
        found = settings()
    except ImproperlyConfigured:
        return []  # the check of all settings reports the error
    if not (found.python_code or found.javascript_code):
        return []
    if found.code_sandbox == "builtin":
        cause = "as set in VALKYR_CODE_SANDBOX"
        return [Info(f"{BUILT_IN.format(cause=cause)}.", hint=HINT, id="valkyr.I040")]
    from valkyr_plugins.connectors.code.bubblewrap import failure

    cause = failure()
    if not cause:
        return []
    if found.code_sandbox == "bubblewrap":
        return [Advice(f"{REFUSED.format(cause=cause)}.", hint=HINT, id="valkyr.W041")]
    return [Info(f"{BUILT_IN.format(cause=cause)}.", hint=HINT, id="valkyr.I040")]
