"""Determine whether a workflow came from a bundle, and whether users may publish it."""

from dataclasses import dataclass
from datetime import datetime

from executions.bundles.planning import WORKFLOWS
from executions.models import AppliedBundle, Workflow, Workspace

SHORT = 7  # characters of a commit's hash that are shown


@dataclass(frozen=True, slots=True)
class GitState:
    """A workflow's source in Git, as of the last applied bundle.

    `locked` says that only bundles publish and archive the workflow. If the workflow does not come
    from a bundle, `managed` is false and the later fields are empty.
    """

    locked: bool
    managed: bool = False
    repository: str = ""
    commit: str = ""
    ref: str = ""
    applied_by: str = ""
    applied_at: datetime | None = None

    @property
    def short_commit(self) -> str:
        """Return the abbreviated commit, such as `abc1234`."""
        commit, dash, changed = self.commit.partition("-")
        return f"{commit[:SHORT]}{dash}{changed}"


def applied_bundle(workspace: Workspace) -> AppliedBundle | None:
    """Return the workspace's record of applied bundles, if there is one."""
    return AppliedBundle.objects.filter(workspace=workspace).first()


def brought_kinds(workspace: Workspace) -> set[str]:
    """Return the names of the kinds whose objects came from earlier bundles."""
    applied = applied_bundle(workspace)
    return {key.partition("/")[0] for key in applied.keys} if applied else set()


def git_state(workflow: Workflow) -> GitState:
    """Return a workflow's source in Git, and whether only bundles publish it. Uses one query."""
    workspace = (
        Workspace.objects.filter(pk=workflow.workspace_id)
        .select_related("applied_bundle")
        .only("publish_from_git", "applied_bundle")
        .first()
    )
    locked = bool(workspace and workspace.publish_from_git and not workflow.origin)
    applied: AppliedBundle | None = getattr(workspace, "applied_bundle", None)
    if applied is None or f"{WORKFLOWS}/{workflow.slug}" not in applied.keys:
        return GitState(locked)
    return GitState(
        locked,
        managed=True,
        repository=applied.repository,
        commit=applied.commit,
        ref=applied.ref,
        applied_by=applied.applied_by,
        applied_at=applied.applied_at,
    )
