"""Whether a step may have a credential at all, before its module gets the values. Pure.

Where the values then go is judged by connection (`modules.network.judging`). That holds only for
modules whose connections are judged; others get a credential that names them, or may go anywhere.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from executions.catalog import CREDENTIAL_ALONE, EVERYTHING
from executions.graph.model import Step

if TYPE_CHECKING:
    from executions.credentials.boundary import Boundary


def refusal(
    step: Step,
    judges: str,
    workflow_id: UUID,
    boundaries: "Mapping[str, Boundary]",
    *,
    remote: bool,
) -> str | None:
    """Why the step may not have one of its credentials, by name; None where it may.

    `judges` is what the module says of its connections (`ModuleSpec.judges_hosts`); `remote` says
    that the values leave with a remote runner.
    """
    in_texts = {name for name, _ in step.secrets}
    for name, boundary in sorted(boundaries.items()):
        if not boundary.allows_workflow(workflow_id):
            return f'the credential "{name}" is not for this workflow'
        if not boundary.allows_module(step.module):
            return f'the credential "{name}" is not for steps of type {step.module}'
        if remote:
            if not (boundary.remote or boundary.any_host):
                return f'the credential "{name}" is not for remote runners'
        elif not judged(judges, boundary, step.module, in_texts=name in in_texts):
            return unjudged(name, step.module)
    return None


def judged(judges: str, boundary: "Boundary", module: str, *, in_texts: bool) -> bool:
    """Whether the boundary's hosts hold in such a module, or need not.

    `in_texts` says that the credential stands in the module's inputs, as `{{ secrets.x }}`.
    """
    enforced = judges == EVERYTHING or (judges == CREDENTIAL_ALONE and not in_texts)
    return enforced or boundary.any_host or boundary.names_module(module)


def unjudged(name: str, module: str) -> str:
    """What people are told of a module that could carry a secret past its hosts."""
    return (
        f'the credential "{name}" may go to certain hosts only, and nobody can tell where {module} '
        "takes it"
    )
