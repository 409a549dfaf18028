"""Common parts of the admin pages of quotas and budgets."""

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from executions.public.access import LONGEST_NAME, Actor, Operation, person_named
from executions.public.admin import AdminOperation, OperatingAdmin, WritingAdmin, links, marks
from executions.public.admin_skin import TextInput, display
from executions.public.language import lazy
from executions.public.models import Permission
from valkyr_plugins.limits.limit_kind import LimitKind
from valkyr_plugins.limits.models import SpenderLimit


def deletion(kind: LimitKind[Any], question: str) -> AdminOperation:
    """Return the operation that deletes a limit; it shows `question` and a field for a reason."""

    def apply(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
        kind.delete(pk, actor=actor, reason=data["reason"])

    return AdminOperation(
        Operation(name=f"delete_{kind.noun}", apply=apply, needs=Permission.CONFIGURE),
        title=lazy("Delete…"),
        icon="delete",
        done=lazy("deleted"),
        question=question,
        danger=True,
        destination=lambda _: links.listing(kind.model._meta.label_lower.replace(".", "_")),
    )


def bar(value: float, most: float, text: str) -> SafeString:
    """Return a bar for `value` of `most`, followed by `text`."""
    return format_html(
        '<progress class="vk-bar" max="{}" value="{}" aria-hidden="true"></progress>'
        '<span class="vk-nowrap">{}</span>',
        most,
        value,
        text,
    )


class NewLimitForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """The base form for a new limit; the username is a text field, which avoids a list of users."""

    username = forms.CharField(
        max_length=LONGEST_NAME,
        required=False,
        widget=TextInput(attrs={"autocomplete": "off"}),
        label=lazy("Username"),
        help_text=lazy(
            "A member's username. Leave empty to apply the limit to the whole workspace."
        ),
    )

    def clean(self) -> dict[str, Any]:
        """Store the ID of the named user as `user_id`; report an unknown name."""
        data = super().clean() or {}
        name = data.get("username")
        user = person_named(name)
        if name and user is None:
            self.add_error("username", gettext("There is no such user."))
        data["user_id"] = user and user.pk
        return data


class LimitAdmin(OperatingAdmin, WritingAdmin):
    """The base class of the admin pages of quotas and budgets.

    `said_once` are the fields that are set only at creation; the column `told` shows them later.
    `uses` are the columns that show how much is used.
    """

    kind: ClassVar[LimitKind[Any]]
    form_of_new: ClassVar[type[NewLimitForm]]
    form_of_old: ClassVar[type[Any]]
    said_once: ClassVar[tuple[str, ...]]
    told: ClassVar[str]
    uses: ClassVar[tuple[str, ...]]

    list_select_related = ("user", "workspace")
    search_ids = ("id",)
    needs = edits = Permission.CONFIGURE

    @display(description=lazy("applies to"))
    def whose(self, row: SpenderLimit) -> str:
        """Return the name of the limited user, or "the whole workspace"."""
        return str(row.user) if row.user_id else gettext("the whole workspace")

    @display(description=lazy("since"))
    def since(self, row: SpenderLimit) -> Any:
        """Return how long ago the limit was created."""
        return marks.ago(row.created_at)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the fields; only the `changeable` fields of an existing limit can be changed."""
        if obj is None:
            return ("workspace", "username", *self.said_once, *self.kind.changeable)
        return ("workspace", "whose", self.told, *self.kind.changeable, *self.uses)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the fields of an existing limit that cannot be changed; () for a new limit."""
        return () if obj is None else ("workspace", "whose", self.told, *self.uses)

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """Return the form; only the form of a new limit has a field for the username."""
        kwargs["form"] = self.form_of_new if obj is None else self.form_of_old
        return super().get_form(request, obj, change, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False, because only the deletion operation records a reason."""
        return False

    def write(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> Any:
        """Create the limit, or change its values; return the limit."""
        actor, data = Actor.of_request(request), form.cleaned_data
        facts = {name: data[name] for name in self.kind.changeable}
        if change:
            return self.kind.change(obj.pk, facts, actor=actor)
        facts |= {name: data[name] for name in self.said_once}
        return self.kind.create(data["workspace"], facts, user_id=data["user_id"], actor=actor)
