"""A workspace's definitions as one bundle: export it, plan it, and apply it in one transaction."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, User, require, workspace_for
from executions.accounts.caller_permissions import is_root, require_root
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCaseSerializer, Flag, Json, JsonObject, Text
from executions.api.workflows import ValidationItem
from executions.bundles.applying import AppliedResult, BundleSource, apply
from executions.bundles.exporting import export
from executions.bundles.kinds import BundleKind, kinds
from executions.bundles.managed import applied_bundle, brought_kinds
from executions.bundles.planning import Bundle, BundlePlan, plan
from executions.models import Workspace
from executions.states import Permission

ACTIONS = [
    ("create", "the object is created"),
    ("change", "the object is changed; a workflow gets a version"),
    ("layout", "only positions, comments or notation of the draft change"),
    ("archive", "the workflow is archived"),
    ("delete", "the object is deleted"),
]
SIGNS = [("+", "added"), ("-", "removed"), ("~", "changed")]
LEFT_OUT = [
    ("from_code", "the workflow's code publishes it"),
    ("never_published", "the workflow has no published version"),
]


class BundleQuery(Body):
    """The query parameters of `exportBundle`."""

    installation = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Also export kinds of the whole installation, such as tiers; for superusers.",
    )


class BundleSourceShape(Body):
    """The origin of a bundle in Git: repository, commit, and branch or tag."""

    repository = Text(required=False, allow_blank=True, max_length=300, default="")
    commit = Text(required=False, allow_blank=True, max_length=80, default="")
    ref = Text(
        required=False,
        allow_blank=True,
        max_length=200,
        default="",
        help_text="The branch or tag.",
    )


class Definitions(Body):
    """The body of `planBundle`: a bundle."""

    workflows = JsonObject(help_text="Definitions by slug, as their authors wrote them.")
    resources = JsonObject(
        required=False,
        default=dict,
        help_text=(
            "Lists of items by kind: `alert-rules`, `budgets`, `quotas` and, for superusers, "
            "`circuit-rules` and `tiers`. A kind that is not named stays as it is."
        ),
    )
    checksums = JsonObject(
        required=False,
        default=dict,
        help_text="The checksums that the versions must have, by slug.",
    )
    prune = Flag(
        required=False,
        default=False,
        help_text="Archive and delete objects of an earlier bundle that this one lacks.",
    )

    def validate_resources(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return the resources. Raises ValidationError for a kind whose value is not a list."""
        for name, items in value.items():
            if not isinstance(items, list):
                raise serializers.ValidationError(f"Expected a list for {name[:80]}.", code="type")
        return value

    def validate_checksums(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return the checksums. Raises ValidationError if a checksum is not a string."""
        if not all(isinstance(one, str) for one in value.values()):
            raise serializers.ValidationError("Expected texts.", code="type")
        return value


class NewDefinitions(Definitions):
    """The body of `applyBundle`: a bundle, its origin, and the fingerprint of its plan."""

    fingerprint = Text(
        required=False,
        allow_blank=True,
        default="",
        max_length=64,
        help_text="The plan's fingerprint; 412 if the workspace or the bundle has changed since.",
    )
    source: Any = BundleSourceShape(
        required=False, help_text="Without it, the workspace's recorded source stays."
    )


class PlanLine(CamelCaseSerializer):
    """One difference in a changed object: a sign for the kind of difference, and a description."""

    sign = serializers.ChoiceField(SIGNS)
    text = serializers.CharField()


class BundleChangeShape(CamelCaseSerializer):
    """One object that the bundle would create, change, archive or delete, with the differences."""

    kind = serializers.CharField(help_text="`workflows`, or the name of a list in `resources`.")
    name = serializers.CharField(help_text="The workflow's slug, or what identifies the item.")
    action = serializers.ChoiceField(ACTIONS)
    version = serializers.IntegerField(
        allow_null=True, help_text="The workflow's current version; null if it has none."
    )
    lines = PlanLine(many=True)
    warnings = serializers.ListField(child=serializers.CharField())


class PlanShape(CamelCaseSerializer):
    """The changes that a bundle would make, and its problems."""

    fingerprint = serializers.CharField(
        help_text="The fingerprint of both compared states, for `applyBundle`."
    )
    valid = serializers.SerializerMethodField(help_text="Whether the bundle can be applied.")
    changes = BundleChangeShape(many=True)
    unchanged = serializers.IntegerField(help_text="The number of objects that stay as they are.")
    kept = serializers.ListField(
        child=serializers.CharField(),
        help_text="Objects of an earlier bundle that this one lacks; `prune` removes them.",
    )
    problems = ValidationItem(many=True)
    missing_credentials = serializers.ListField(
        child=serializers.CharField(),
        help_text="Credentials that the workflows name and the workspace lacks.",
    )

    def get_valid(self, found: BundlePlan) -> bool:
        """Return whether the plan has no problems."""
        return not found.problems


class AppliedShape(CamelCaseSerializer):
    """The result of `applyBundle`: the plan, and the latest versions of workflows it changed."""

    plan = PlanShape()
    versions = Json(help_text="The latest versions of created and changed workflows, by slug.")


class AppliedBundleShape(CamelCaseSerializer):
    """The last applied bundle: its origin in Git, the user who applied it, and the time."""

    repository = serializers.CharField()
    commit = serializers.CharField()
    ref = serializers.CharField()
    applied_by = serializers.CharField()
    applied_at = serializers.DateTimeField()


class ExportedShape(CamelCaseSerializer):
    """The response of `exportBundle`: a workspace's definitions and other items."""

    workspace = serializers.CharField(help_text="The workspace's slug.")
    workflows = Json(help_text="Definitions of published workflows, by slug.")
    checksums = Json(help_text="The checksums of their versions, by slug.")
    resources = Json(help_text="Lists of items by kind, without values that are the default.")
    left_out = Json(help_text="Workflows that were not exported, by slug, with the reason.")
    applied = AppliedBundleShape(allow_null=True)


def _workspace(user: User, pk: UUID, power: Action) -> Workspace:
    return workspace_for(user, pk, power)


def readable(user: User, workspace: Workspace, *, installation: bool) -> list[BundleKind]:
    """Return the kinds that the caller may export; the installation's only if `installation`."""
    powers = require(user, workspace.pk, Action.VIEW)
    root = installation and is_root(user)
    return [
        kind
        for kind in kinds().values()
        if (root if kind.needs is None else powers.allows(kind.needs))
    ]


def require_kinds(user: User, workspace: Workspace, names: Iterable[str]) -> None:
    """Raise Forbidden if the caller may not write items of one of the named kinds."""
    for name in names:
        kind = kinds().get(name)
        if kind is None:
            continue
        if kind.needs is None:
            require_root(user, f"change {name}")
        else:
            require(user, workspace.pk, kind.needs)


class BundleEndpoint(Endpoint):
    """The base of endpoints that receive a bundle."""

    def given(self, pk: UUID, form: type[Definitions]) -> tuple[Workspace, Bundle, dict[str, Any]]:
        """Return the workspace, bundle and body. Raises NotFound, Forbidden or ValidationError."""
        workspace = _workspace(self.user, pk, Action.AUTHOR)
        values = self.body(form)
        bundle = Bundle(
            values["workflows"], values["resources"], values["checksums"], values["prune"]
        )
        brought = brought_kinds(workspace) if bundle.prune else set()
        require_kinds(self.user, workspace, sorted({*bundle.resources, *brought}))
        return workspace, bundle, values


class ExportBundle(Endpoint):
    """The endpoint that exports the definitions of a workspace."""

    @operation(
        "exportBundle", "Bundle", {200: ExportedShape}, errors=[403, 404], parameters=[BundleQuery]
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return a workspace's published workflows and the items that you may configure.

        `planBundle` and `applyBundle` accept the response's `workflows`, `checksums` and
        `resources`. At most 500 workflows and 4 MiB can be exported.
        """
        installation = self.query(BundleQuery)["installation"]
        workspace = _workspace(self.user, id, Action.VIEW)
        if installation:
            require_root(self.user, "export what belongs to the installation")
        found = export(workspace, readable(self.user, workspace, installation=installation))
        applied = applied_bundle(workspace)
        told = {
            "workspace": workspace.slug,
            "workflows": found.workflows,
            "checksums": found.checksums,
            "resources": found.resources,
            "left_out": found.left_out,
            "applied": applied,
        }
        return Response(ExportedShape(told).data)


class PlanBundle(BundleEndpoint):
    """The endpoint that compares a bundle with a workspace."""

    @operation("planBundle", "Bundle", {200: PlanShape}, request=Definitions, errors=[403, 404])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return the changes that the bundle would make, and its problems; change nothing."""
        workspace, bundle, _ = self.given(id, Definitions)
        seen = readable(self.user, workspace, installation=True)
        return Response(PlanShape(plan(workspace, bundle, self.actor, seen)).data)


class ApplyBundle(BundleEndpoint):
    """The endpoint that applies a bundle to a workspace."""

    @operation(
        "applyBundle",
        "Bundle",
        {200: AppliedShape},
        request=NewDefinitions,
        errors=[403, 404, 409, 412],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Apply all changes of a bundle in one transaction, or none of them.

        With the `fingerprint` of a plan, the response is 412 if anything that the plan compared has
        changed since. Requires permission to write workflows and to write each kind of item in the
        bundle. `prune` also requires permission to delete workflows. If only Git publishes in the
        workspace, `deploy` is required too.
        """
        workspace, bundle, values = self.given(id, NewDefinitions)
        if workspace.publish_from_git:
            require(self.user, workspace.pk, Permission.DEPLOY)
        if bundle.prune:
            require(self.user, workspace.pk, Action.DELETE)
        source = BundleSource(**values["source"]) if "source" in values else None
        fingerprint = values["fingerprint"]
        done: AppliedResult = apply(
            workspace, bundle, self.actor, source=source, fingerprint=fingerprint
        )
        return Response(AppliedShape(done).data)
