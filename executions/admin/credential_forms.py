"""The form of a credential; its inputs for values are always empty."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.utils.translation import gettext

from executions.admin.skin import CheckboxSelectMultiple, PasswordInput, Textarea, TextInput
from executions.credentials import KINDS, InvalidCredential, is_taken
from executions.credentials.boundary import ANY, LISTS, CredentialLimits, problems_of
from executions.credentials.kinds import checked, checked_changes, suggested_hosts
from executions.credentials.writing import unknown_workflows
from executions.definition.graph.problem import DefinitionProblem
from executions.language import lazy
from executions.models import Credential, Workspace

# Number of empty rows for new fields, in the form of the type `custom`.
BLANK_ROWS = 4
KEEPS = lazy("Leave empty to keep the current value.")
HOSTS = lazy(
    "Allowed hosts, one per line: api.example.com, *.example.com, 10.0.0.0/8, with or without a "
    "port; * for any host. In a new credential, leave empty for the host of its URL or the default "
    "hosts of its type."
)
MODULES = lazy(
    "Modules that may use the credential, one per line: http.request, http.*; * for any module."
)
WORKFLOWS = lazy(
    "IDs of the workflows that may use the credential, one per line; * for any workflow."
)


def _lines(label: str, help_text: str) -> forms.CharField:
    """Return an input for a list, one entry per line."""
    widget = Textarea(attrs={"rows": 3, "autocomplete": "off"})
    return forms.CharField(required=False, label=label, help_text=help_text, widget=widget)


class CredentialForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """The form of a credential's name, description and limits; `form_for` adds its value inputs."""

    kind = "secret"
    inputs: tuple[str, ...] = ()
    version_seen = forms.IntegerField(required=False, widget=forms.HiddenInput)
    hosts = _lines(lazy("Hosts"), HOSTS)
    modules = _lines(lazy("Modules"), MODULES)
    workflows = _lines(lazy("Workflows"), WORKFLOWS)

    class Meta:
        model = Credential
        fields = ("workspace", "name", "description", "remote")
        widgets = {
            "name": TextInput(attrs={"autocomplete": "off"}),
            "description": Textarea(attrs={"rows": 2}),
        }
        labels = {"remote": lazy("Available to remote runners")}
        help_texts = {
            "remote": lazy("Remote runners cannot enforce the list of hosts."),
            "name": lazy(
                "Workflows refer to a credential named shop as secrets.shop. Use lowercase "
                "letters, digits and _, and start with a letter. You cannot change the name later."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.adds:
            self.instance.type = self.kind
        if "version_seen" in self.fields:
            self.fields["version_seen"].initial = self.instance.version
        for name in self._lists():
            self.initial[name] = "\n".join(self._present(name))

    @property
    def adds(self) -> bool:
        """Return whether the form creates a credential."""
        return bool(self.instance._state.adding)

    def limits(self) -> CredentialLimits:
        """Return the entered limits. A list that was not entered becomes None.

        None does not change an existing limit; a new credential gets its type's suggestion.
        """
        data = self.cleaned_data
        typed: dict[str, Any] = {name: data.get(name, "").split() or None for name in self._lists()}
        if "remote" in self.fields:
            typed["remote"] = bool(data.get("remote"))
        return cast("CredentialLimits", typed)

    def _lists(self) -> list[str]:
        return [name for name in LISTS if name in self.fields]

    def _present(self, name: str) -> Sequence[str]:
        """Return the initial lines of a list: the stored lines, or those that the type suggests."""
        if not self.adds:
            stored: list[str] = getattr(self.instance, name)
            return stored
        known = KINDS[self.kind]
        return {"hosts": known.hosts, "modules": known.modules, "workflows": (ANY,)}[name]

    def values(self) -> dict[str, str | None]:
        """Return the entered values, keyed by field name; None stands for a field to remove."""
        data = self.cleaned_data
        typed = {name: data.get(f"value_{name}") for name in self.inputs}
        rows = range(1, BLANK_ROWS + 1)
        typed |= {data.get(f"new_name_{i}", ""): data.get(f"new_value_{i}") for i in rows}
        values: dict[str, str | None] = {name: text for name, text in typed.items() if text}
        return values | dict.fromkeys(data.get("take_away") or [])

    def clean(self) -> dict[str, Any]:
        """Check the entered values and limits, and report each problem next to its input."""
        data = super().clean() or {}
        self._check_rows(data)
        self._check_emptied(data)
        try:
            if self.adds:
                asked = self._asked()
                found = [*problems_of(asked), *self._unknown(data.get("workspace"), asked)]
                checked(self.kind, data.get("name", ""), self.values(), found)
            else:
                asked = self.limits()
                found = [*problems_of(asked), *self._unknown(self.instance.workspace, asked)]
                checked_changes(self.kind, self.instance.fields, self.values(), found)
        except InvalidCredential as error:
            for problem in error.problems:
                self.add_error(self._place(problem.path), self._said(problem))
        self._check_name(data)
        return data

    def _asked(self) -> CredentialLimits:
        """Return the limits of a new credential; the type suggests hosts if none were entered."""
        asked = self.limits()
        if asked.get("hosts") is None:
            texts = {name: text for name, text in self.values().items() if text}
            asked["hosts"] = suggested_hosts(self.kind, texts)
        return asked

    def _unknown(
        self, workspace: Workspace | None, asked: CredentialLimits
    ) -> list[DefinitionProblem]:
        found = asked.get("workflows")
        return unknown_workflows(workspace.pk, found) if workspace and found else []

    def _check_rows(self, data: dict[str, Any]) -> None:
        for i in range(1, BLANK_ROWS + 1):
            name, value = data.get(f"new_name_{i}"), data.get(f"new_value_{i}")
            if value and not name:
                self.add_error(f"new_name_{i}", gettext("Give the field a name."))
            if name and not value:
                self.add_error(f"new_value_{i}", gettext("Give the field a value."))

    def _check_emptied(self, data: dict[str, Any]) -> None:
        """Reject an emptied list of an existing credential: the stored list would not change."""
        for name in [] if self.adds else self._lists():
            if name in self.data and not data.get(name):
                self.add_error(name, gettext("Enter at least one entry, or * for any."))

    def _check_name(self, data: dict[str, Any]) -> None:
        """Report a taken name; the database's index rejects concurrent duplicates."""
        workspace, name = data.get("workspace"), data.get("name")
        if self.adds and workspace and name and is_taken(workspace.pk, name):
            self.add_error("name", gettext("Another credential of this workspace has this name."))

    def _place(self, path: str) -> str | None:
        """Return the form's field for a problem's path; None if the form does not have it."""
        name = f"value_{path.removeprefix('fields.')}" if path.startswith("fields.") else path
        name = name.partition("[")[0]
        return name if name in self.fields else None

    def _said(self, problem: Any) -> str:
        if self._place(problem.path) is None and problem.path:
            return f"{problem.path}: {problem.message}"
        return str(problem.message)


def form_for(kind: str, present: list[str] | None) -> type[CredentialForm]:
    """Return the form class of one type; `present` names the fields of an existing credential."""
    known = (*KINDS[kind].fields, *KINDS[kind].optional)
    names = tuple(dict.fromkeys((*(present or ()), *known)))
    fields: dict[str, Any] = {
        f"value_{name}": _secret(name, "" if present is None else KEEPS) for name in names
    }
    if not KINDS[kind].fields:
        fields |= _rows()
    if present and not KINDS[kind].fields:
        fields["take_away"] = forms.MultipleChoiceField(
            choices=[(name, name) for name in names],
            required=False,
            widget=CheckboxSelectMultiple(),
            label=lazy("Remove fields"),
        )
    return type("CredentialForm", (CredentialForm,), {**fields, "kind": kind, "inputs": names})


def inputs_of(form: type[CredentialForm]) -> list[str]:
    """Return the names of the form's inputs that belong to its type, in order."""
    known = CredentialForm.base_fields
    return [name for name in form.base_fields if name not in known]


def _rows() -> dict[str, forms.Field]:
    fields: dict[str, forms.Field] = {}
    for i in range(1, BLANK_ROWS + 1):
        fields[f"new_name_{i}"] = forms.CharField(
            required=False,
            label=gettext("New field {i}").format(i=i),
            widget=TextInput(attrs={"autocomplete": "off"}),
        )
        fields[f"new_value_{i}"] = _secret(gettext("Value ({i})").format(i=i), "")
    return fields


def _secret(label: str, help_text: str) -> forms.CharField:
    """Return an input that shows dots, is always empty, and keeps the value exactly as entered."""
    widget = PasswordInput(attrs={"autocomplete": "new-password"}, render_value=False)
    return forms.CharField(
        required=False, label=label, strip=False, widget=widget, help_text=help_text
    )
