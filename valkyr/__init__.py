"""The public names of Valkyr. All other names are private and can change.

A settings module can import this package, because it loads neither Django's models nor any app.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celery import Celery

    from valkyr_plugins.canvas.durable import durable
    from valkyr_plugins.canvas.durable_task import DurableTask
    from valkyr_plugins.canvas.results import DurableResult
    from valkyr_plugins.python_workflows.names import (
        StepContext,
        StepError,
        TracingError,
        agent,
        approve,
        callback,
        chain,
        choose,
        contains,
        each,
        error,
        event,
        execution,
        expr,
        failed,
        filters,
        first_of,
        history,
        is_missing,
        modules,
        not_,
        otherwise,
        outcome,
        parallel,
        repeat,
        secrets,
        sleep,
        step,
        sub,
        succeeded,
        switch,
        then,
        tool,
        variables,
        wait_event,
        when,
        workflow,
    )

__all__ = [
    "APPS",
    "PLUGINS",
    "DurableResult",
    "DurableTask",
    "StepContext",
    "StepError",
    "TracingError",
    "agent",
    "approve",
    "callback",
    "chain",
    "choose",
    "configure_celery",
    "contains",
    "durable",
    "each",
    "error",
    "event",
    "execution",
    "expr",
    "failed",
    "filters",
    "first_of",
    "history",
    "is_missing",
    "modules",
    "not_",
    "otherwise",
    "outcome",
    "parallel",
    "repeat",
    "secrets",
    "sleep",
    "step",
    "sub",
    "succeeded",
    "switch",
    "then",
    "tool",
    "variables",
    "wait_event",
    "when",
    "workflow",
]

__version__ = "0.1.0"

APPS = ("executions", "runners", "dlq")
"""The apps of the engine, by their names in `INSTALLED_APPS`."""

_CANVAS = {"durable": "durable", "DurableTask": "durable_task", "DurableResult": "results"}

# The module that each plugin requires. The modules of `connectors` report their missing packages
# themselves.
_PLUGINS = {
    "connectors": "",
    "alerts": "httpx",
    "archive": "pyarrow",
    "backtest": "",
    "canary": "",
    "canvas": "",
    "circuits": "",
    "figures": "",
    "limits": "",
    "mcp": "mcp",
    "n8n": "",
    "pydantic_agents": "pydantic_ai",
    "python_workflows": "",
    "redrive": "",
    "remote": "",
    "short_lived": "httpx",
    "task_backend": "",
    "telemetry": "opentelemetry.sdk",
    "timetravel": "",
    "version_migration": "",
}


def _plugins() -> tuple[str, ...]:
    """Return the plugins in `_PLUGINS` whose requirements are installed, for `INSTALLED_APPS`.

    A project lists the other plugins explicitly: `mfa` and `sso` change how users sign in, and
    `sql_views` needs database roles.
    """
    return tuple(
        f"valkyr_plugins.{name}"
        for name, needed in _PLUGINS.items()
        if not needed or _is_installed(needed)
    )


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent is missing
        return False


def configure_celery(app: "Celery") -> "Celery":
    """Let a project's Celery app send and execute Valkyr's tasks; see `valkyr.celery`."""
    from valkyr.celery import configure_celery as configure

    return configure(app)


def __getattr__(name: str) -> Any:
    if name == "PLUGINS":
        return _plugins()
    if name in _CANVAS:
        return getattr(import_module(f"valkyr_plugins.canvas.{_CANVAS[name]}"), name)
    if name in __all__:
        return getattr(import_module("valkyr_plugins.python_workflows.names"), name)
    raise AttributeError(f"module 'valkyr' has no attribute {name!r}")
