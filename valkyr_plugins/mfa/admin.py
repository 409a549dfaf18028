"""The page of second factors: a user's own; superusers see all, and reset lost ones."""

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext

from executions.public import addresses
from executions.public.access import Actor, Operation, Power, name_path
from executions.public.admin import (
    AdminOperation,
    FactAdmin,
    GivenReasonForm,
    OperatingAdmin,
    Page,
    facts,
    is_superuser,
    links,
    marks,
)
from executions.public.admin_skin import ActionVariant, display
from executions.public.language import lazy
from valkyr_plugins.mfa import factors
from valkyr_plugins.mfa.models import SecondFactor


def _reset(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    factors.reset(pk, actor, data["reason"])


RESET = AdminOperation(
    Operation(name="reset", apply=_reset),
    title=lazy("Reset…"),
    icon="phonelink_erase",
    done=lazy("reset"),
    question=lazy(
        "Removes the authenticator app and the recovery codes of a user who lost them. Until the "
        "user sets up a new factor, the password alone is enough to sign in. Verify the user's "
        "identity first."
    ),
    form=GivenReasonForm,
    danger=True,
    bulk=False,
    destination=lambda nothing: links.listing("valkyr_mfa_secondfactor"),
)


@admin.register(SecondFactor)
class SecondFactorAdmin(OperatingAdmin, FactAdmin):
    """Whose sign-in needs a code."""

    sensitive = True
    operations = (RESET,)
    actions_list: ClassVar[Any] = ("manage",)
    list_display = ("user", "mark", "set_up", "used", "codes_left")
    list_display_links = ("user",)
    list_select_related = ("user",)
    list_defer = ("sealed",)
    ordering = ("-id",)
    search_ids = ("id",)
    search_texts = (name_path(),)
    empty_text = lazy("No second factors. Set up your own under “Your second factor”.")

    def scope(self, request: HttpRequest, rows: QuerySet[Any], action: Power) -> QuerySet[Any]:
        """Return the user's own; all for a superuser."""
        left = Count("recovery_codes", filter=Q(recovery_codes__used_at=None))
        rows = rows.annotate(left=left)
        return rows if is_superuser(request) else rows.filter(user=request.user.pk)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow every user to see their own."""
        return obj is None or is_superuser(request) or bool(obj.user_id == request.user.pk)

    def has_manage_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow every user to set up their own."""
        return True

    def may_operate(self, request: HttpRequest, operation: AdminOperation, row: Any = None) -> bool:
        """Allow superusers to reset; users remove their own on its page."""
        return is_superuser(request)

    def manage(self, request: HttpRequest) -> HttpResponse:
        """Open the page on which users set up and remove their own."""
        return HttpResponseRedirect(addresses.api("mfa"))

    manage.__dict__.update(
        {
            "allowed_permissions": ("manage",),
            "short_description": lazy("Your second factor"),
            "url_path": "manage",
            "icon": "phonelink_lock",
            "variant": ActionVariant.PRIMARY,
            "attrs": {},
        }
    )

    @display(description=lazy("state"))
    def mark(self, row: SecondFactor) -> Any:
        """Return whether sign-in asks for its code."""
        if row.confirmed_at is None:
            return marks.mark(gettext("not confirmed"), "pending", "grey")
        return marks.mark(gettext("confirmed"), "phonelink_lock", "green")

    @display(description=lazy("set up"))
    def set_up(self, row: SecondFactor) -> Any:
        """Return when it was confirmed."""
        return marks.ago(row.confirmed_at) if row.confirmed_at else marks.EMPTY

    @display(description=lazy("last used"))
    def used(self, row: SecondFactor) -> Any:
        """Return when a code was last accepted."""
        return marks.ago(row.last_used_at) if row.last_used_at else gettext("never")

    @display(description=lazy("recovery codes left"))
    def codes_left(self, row: Any) -> str:
        """Return how many recovery codes are unused."""
        return str(row.left)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of a factor, without its secret."""
        return Page(
            [self.mark(obj)],
            facts(
                [
                    (gettext("User"), obj.user.get_username()),
                    (gettext("Set up"), self.set_up(obj)),
                    (gettext("Last used"), self.used(obj)),
                    (gettext("Recovery codes left"), self.codes_left(obj)),
                    (gettext("ID"), marks.copyable(obj.pk)),
                ]
            ),
        )
