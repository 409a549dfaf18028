"""Admin pages of second factors: users see their own; superusers see all, and reset lost ones."""

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.db.models import Count, OuterRef, QuerySet, Subquery
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
from valkyr_plugins.mfa.models import Passkey, RecoveryCode, SecondFactor

QUESTION = lazy(
    "Removes the authenticator app, the passkeys and the recovery codes of a user who lost them, "
    "and ends the user's sessions. Until the user sets up a new factor, the password alone is "
    "enough to sign in. Verify the user's identity first."
)


def _reset_from(model: type[SecondFactor] | type[Passkey], list_name: str) -> AdminOperation:
    """Return the operation that removes all factors of a row's user."""

    def reset(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
        row = model._default_manager.select_related("user").filter(pk=pk).first()
        if row is None:
            raise factors.NoFactor
        factors.reset(row.user, actor, data["reason"])

    return AdminOperation(
        Operation(name="reset", apply=reset),
        title=lazy("Reset all factors…"),
        icon="phonelink_erase",
        done=lazy("reset"),
        question=QUESTION,
        form=GivenReasonForm,
        danger=True,
        bulk=False,
        destination=lambda nothing: links.listing(list_name),
    )


class OwnFactors(OperatingAdmin, FactAdmin):
    """A list of factors: users see their own; superusers see all and can reset them."""

    sensitive = True
    list_display_links = ("user",)
    list_select_related = ("user",)
    actions_list: ClassVar[Any] = ("manage",)
    ordering = ("-id",)
    search_ids = ("id",)

    def scope(self, request: HttpRequest, rows: QuerySet[Any], action: Power) -> QuerySet[Any]:
        """Return the user's own factors, or all factors for a superuser."""
        return rows if is_superuser(request) else rows.filter(user=request.user.pk)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user may see the factor: every user may see their own."""
        return obj is None or is_superuser(request) or bool(obj.user_id == request.user.pk)

    def has_manage_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return True: every user may set up their own factors."""
        return True

    def may_operate(self, request: HttpRequest, operation: AdminOperation, row: Any = None) -> bool:
        """Return whether the user is a superuser; others remove their factors on their own page."""
        return is_superuser(request)

    def manage(self, request: HttpRequest) -> HttpResponse:
        """Open the page on which users set up and remove their own factors."""
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

    @display(description=lazy("last used"))
    def used(self, row: Any) -> Any:
        """Return how long ago the factor was last accepted, or "never"."""
        return marks.ago(row.last_used_at) if row.last_used_at else gettext("never")


@admin.register(Passkey)
class PasskeyAdmin(OwnFactors):
    """Passkeys, which are keys on users' devices."""

    operations = (_reset_from(Passkey, "valkyr_mfa_passkey"),)
    list_display = ("user", "name", "site", "added", "used")
    list_defer = ("credential", "credential_id")
    search_texts = (name_path(), "name")
    empty_text = lazy("No passkeys. To add yours, choose “Your second factor”.")

    @display(description=lazy("set up"))
    def added(self, row: Passkey) -> Any:
        """Return how long ago the passkey was added."""
        return marks.ago(row.created_at)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of a passkey."""
        return Page(
            [],
            facts(
                [
                    (gettext("User"), obj.user.get_username()),
                    (gettext("Name"), obj.name),
                    (gettext("Address"), obj.site),
                    (gettext("Set up"), self.added(obj)),
                    (gettext("Last used"), self.used(obj)),
                    (gettext("ID"), marks.copyable(obj.pk)),
                ]
            ),
        )


@admin.register(SecondFactor)
class SecondFactorAdmin(OwnFactors):
    """Users' authenticator apps, which provide the codes for sign-in."""

    operations = (_reset_from(SecondFactor, "valkyr_mfa_secondfactor"),)
    list_display = ("user", "mark", "set_up", "used", "codes_left")
    list_defer = ("sealed",)
    search_texts = (name_path(),)
    empty_text = lazy("No authenticator apps. To set up yours, choose “Your second factor”.")

    def scope(self, request: HttpRequest, rows: QuerySet[Any], action: Power) -> QuerySet[Any]:
        """Return the rows in scope, with the number of each user's unused recovery codes."""
        unused = RecoveryCode.objects.filter(user=OuterRef("user"), used_at=None).order_by()
        number = unused.values("user").annotate(number=Count("pk")).values("number")
        return super().scope(request, rows.annotate(left=Subquery(number)), action)

    @display(description=lazy("state"))
    def mark(self, row: SecondFactor) -> Any:
        """Return the badge that says whether the app was confirmed."""
        if row.confirmed_at is None:
            return marks.mark(gettext("not confirmed"), "pending", "grey")
        return marks.mark(gettext("confirmed"), "phonelink_lock", "green")

    @display(description=lazy("set up"))
    def set_up(self, row: SecondFactor) -> Any:
        """Return how long ago the app was confirmed; a dash if it was not."""
        return marks.ago(row.confirmed_at) if row.confirmed_at else marks.EMPTY

    @display(description=lazy("recovery codes left"))
    def codes_left(self, row: Any) -> str:
        """Return the number of unused recovery codes."""
        return str(row.left or 0)

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
