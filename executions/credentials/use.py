"""Whether a step may have a credential at all, by its module, its workflow and where it runs. Pure.

Where the values then go is judged by connection (`runners.modules.credential_hosts`). That holds
only for modules whose connections are judged; others get a credential that names them, or that may
go anywhere.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from executions.credentials.boundary import Boundary, listed
from executions.definition.catalog import CREDENTIAL_ALONE, EVERYTHING


@dataclass(frozen=True, slots=True)
class CredentialUse:
    """A step that names credentials.

    `judges` is what its module says of its connections (`ModuleSpec.judges_hosts`); `in_texts` are
    the credentials that stand in its inputs as `{{ secrets.x }}`, `kept` those of them in inputs
    that stay on this machine (`ModuleSpec.keeps`); `remote` says that the values leave with a
    remote runner.
    """

    module: str
    judges: str
    workflow_id: UUID
    in_texts: Collection[str] = ()
    kept: Collection[str] = ()
    remote: bool = False


def refusal(use: CredentialUse, boundaries: Mapping[str, Boundary]) -> str | None:
    """Why the step may not have one of the credentials; None where it may have all."""
    found = (refused(use, name, boundaries[name]) for name in sorted(boundaries))
    return next((why for why in found if why is not None), None)


def refused(use: CredentialUse, name: str, boundary: Boundary) -> str | None:
    """Why the step may not have the credential of that name; None where it may."""
    if not boundary.allows_workflow(use.workflow_id):
        return f'the credential "{name}" is not for this workflow'
    if not boundary.allows_module(use.module):
        modules = listed(boundary.modules)
        return f'the credential "{name}" is not for steps of type {use.module}, only for {modules}'
    if use.remote:
        if not (boundary.remote or boundary.any_host):
            return f'the credential "{name}" is not for remote runners'
    elif not _hosts_hold(use, name, boundary):
        return (
            f'the credential "{name}" may go to certain hosts only, and the engine cannot judge '
            f"where {use.module} takes it"
        )
    return None


def _hosts_hold(use: CredentialUse, name: str, boundary: Boundary) -> bool:
    """Whether the boundary's hosts can be enforced in the step, or need not be."""
    alone = use.judges == CREDENTIAL_ALONE and name not in use.in_texts
    enforced = (use.judges == EVERYTHING and name not in use.kept) or alone
    return enforced or boundary.any_host or boundary.names_module(use.module)
