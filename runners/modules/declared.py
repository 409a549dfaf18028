"""The module types of the engine and of plugins, and the location of each module's class.

This file needs no Django, so that code that only runs or describes modules imports little.
"""

from collections.abc import Mapping

ENGINE: dict[str, str] = {
    "flow.noop": "runners.modules.flow:Noop",
    "flow.if": "runners.modules.flow:If",
    "flow.switch": "runners.modules.flow:Switch",
    "flow.fail": "runners.modules.flow:Fail",
    "flow.pinned": "runners.modules.flow:Pinned",
    "flow.loop": "runners.modules.containers:Loop",
    "flow.map": "runners.modules.containers:Map",
    "flow.delay": "runners.modules.waits:Delay",
    "flow.approval": "runners.modules.approval:ApprovalModule",
    "flow.subworkflow": "runners.modules.containers:Subworkflow",
    "flow.wait_for_event": "runners.modules.waits:WaitForEvent",
    "flow.callback": "runners.modules.waits:CallbackModule",
    "flow.set_variables": "runners.modules.flow:SetVariables",
}
_declared = dict(ENGINE)
_needs: dict[str, tuple[str, str]] = {}


def declare(
    plugin: str, types: Mapping[str, str], needs: Mapping[str, tuple[str, str]] | None = None
) -> None:
    """Add a plugin's module types, and the package and extra that some of them need.

    Raises ValueError if the engine or another plugin has declared a type at another location.
    """
    for name, place in types.items():
        if _declared.setdefault(name, place) != place:
            raise ValueError(
                f"the plugin {plugin} declares the module type {name!r}, which {_declared[name]} "
                "already has: rename it, or remove one of the two plugins"
            )
    _needs.update(needs or {})


def needed(type_name: str) -> tuple[str, str] | None:
    """Return the package that a module type imports and the extra that installs it, or None."""
    return _needs.get(type_name)


def declared() -> Mapping[str, str]:
    """Return the location of each module type, as `package.file:Class`.

    The engine's types come first.
    """
    return _declared
