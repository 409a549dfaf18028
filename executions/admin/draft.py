"""The form of a workflow's draft: a definition as YAML or JSON text.

Saving goes through `executions.publishing.versioning`; a form opened before somebody else saved is
refused with the text kept.
"""

from typing import Any

import yaml
from django import forms
from django.utils.text import slugify
from unfold.widgets import UnfoldAdminTextareaWidget

from executions.access.actor import Actor
from executions.definition.graph.definition import DefinitionError, load_text
from executions.models import Workflow
from executions.publishing.versioning import create_workflow, update_workflow

EXAMPLE = """\
schema: valkyr/1
name: hello
tasks:
  - id: greet
    use: flow.noop
"""


def as_yaml(definition: Any) -> str:
    """The stored draft as text."""
    if not definition:
        return EXAMPLE
    return str(yaml.safe_dump(definition, sort_keys=False, allow_unicode=True, width=100))


class DraftForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """Name, slug, switch and the definition's text."""

    draft = forms.CharField(
        label="Definition",
        strip=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 28, "spellcheck": "false"}),
        help_text="YAML or JSON. A draft may be saved with problems; they are listed then.",
    )
    revision_seen = forms.IntegerField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = Workflow
        fields = ("workspace", "name", "slug", "description", "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "slug" in self.fields:
            self.fields["slug"].required = False
            self.fields["slug"].help_text = "Made from the name if left empty."
        if "description" in self.fields:
            self.fields["description"].widget.attrs["rows"] = 3
        if "draft" in self.fields:
            widget = self.fields["draft"].widget
            widget.attrs["class"] = f"{widget.attrs.get('class', '')} vk-code vk-definition"
            self.fields["draft"].initial = as_yaml(self.instance.definition)
            self.fields["revision_seen"].initial = self.instance.revision

    def clean_draft(self) -> Any:
        """The document that the text holds."""
        text = self.cleaned_data["draft"]
        kind = "json" if text.lstrip().startswith("{") else "yaml"
        try:
            return load_text(text, content_type=kind)
        except DefinitionError as error:
            raise forms.ValidationError(
                [f"{p.path}: {p.message}" if p.path else p.message for p in error.problems]
            ) from None

    def clean(self) -> dict[str, Any]:
        """Refuse to overwrite what somebody else saved meanwhile."""
        data = super().clean() or {}
        seen = data.get("revision_seen")
        if self.instance.pk and seen and not self.instance._state.adding:
            now = Workflow.objects.values_list("revision", flat=True).get(pk=self.instance.pk)
            if now != seen:
                raise forms.ValidationError(
                    f"Somebody saved revision {now} since you opened revision {seen}. Copy your "
                    "text, open the page again and repeat your change."
                )
        self._check_slug(data)
        return data

    def _check_slug(self, data: dict[str, Any]) -> None:
        """A taken slug is told here, with the text kept; two at once meet the database's index."""
        slug = data.get("slug") or slugify(data.get("name", ""))[:80]
        workspace = data.get("workspace") or (
            None if self.instance._state.adding else self.instance.workspace
        )
        taken = Workflow.objects.filter(workspace=workspace, slug=slug, archived_at=None)
        if workspace and slug and taken.exclude(pk=self.instance.pk).exists():
            self.add_error(
                "slug", f"Another workflow of this workspace has the slug {slug!r}; choose another."
            )

    def write(self, actor: Actor) -> Workflow:
        """Create or update the workflow; raises ValkyrError."""
        data = self.cleaned_data
        if self.instance._state.adding:
            created = create_workflow(
                data["workspace"],
                name=data["name"],
                definition=data["draft"],
                actor=actor,
                slug=data.get("slug") or None,
                description=data.get("description", ""),
            )
            if not data.get("enabled", True):
                created = update_workflow(
                    created.pk, {"enabled": False}, actor=actor, expected_revision=None
                )
            return created
        changes = {
            name: data[name]
            for name in ("name", "slug", "description", "enabled")
            if name in data and (name != "slug" or data["slug"])
        }
        return update_workflow(
            self.instance.pk,
            changes | {"definition": data["draft"]},
            actor=actor,
            expected_revision=data.get("revision_seen"),
        )
