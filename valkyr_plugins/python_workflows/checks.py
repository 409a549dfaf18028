"""`manage.py check --database default`: every step that a live version needs is in the code.

An execution keeps its version, so a step must remain in the code until no live version uses it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register

from executions.public.database import alias
from runners.public.registry import module_names
from valkyr_plugins.python_workflows.statements import fetch

MOST = 20


@register(Tags.database)
def removed_steps(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Return messages for at most 20 steps that live versions need and no code declares."""
    from dlq.public.models import DeadLetterEntry
    from executions.public.models import Workflow
    from valkyr_plugins.python_workflows.publishing import tables_exist

    if alias() not in (databases or ()) or not tables_exist(Workflow, DeadLetterEntry):
        return []
    return list(_missing())[:MOST]


def _missing() -> Iterator[CheckMessage]:
    known = module_names()
    for slug, number, type_name in fetch("live_types", {}):
        if type_name not in known:
            yield Error(
                f"Workflow {slug!r} runs the step {type_name!r} in version {number}, which is "
                "its latest version or its canary, or has running executions or open dead "
                "letters; no such step is declared.",
                hint=(
                    "Keep the step until these executions have ended, their dead letters are "
                    "resolved, and a version without it is published. A renamed step keeps its "
                    f"type with @step({type_name!r}). If the step is from another package, "
                    "install that package."
                ),
                id="valkyr.E030",
            )
