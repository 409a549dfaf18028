"""Tests of redrives in the admin: created from selected entries or a group, and followed."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from dlq.models import FailureGroup
from executions.models import Membership
from tests.support import admin_rows as rows
from tests.support.sharing import assign_perm
from valkyr_plugins.redrive.models import Redrive, RedriveItem

pytestmark = pytest.mark.django_db
LIST, ENTRIES = "/admin/valkyr_redrive/redrive/", "/admin/dlq/deadletterentry/"
NEW = f"{LIST}new/"


@pytest.fixture(autouse=True)
def _pages(static_files: None) -> None:
    """Provide the static files that pages need."""


@pytest.fixture
def op(client: Client, django_user_model: Any) -> Client:
    """Return a superuser's client."""
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


def member(client: Client, django_user_model: Any, role: str, **more: Any) -> Client:
    user = django_user_model.objects.create(username=f"ada-{role.lower()}", is_staff=True)
    Membership.objects.create(user=user, workspace=rows.workspace(), role=role, **more)
    client.force_login(user)
    return client


def page_of(redrive: Redrive) -> str:
    return reverse("admin:valkyr_redrive_redrive_change", args=[redrive.pk])


def start_page(redrive: Redrive) -> str:
    return reverse("admin:valkyr_redrive_redrive_operate_start", args=[redrive.pk])


def test_a_group_is_made_a_draft_and_started(op: Client) -> None:
    of = rows.workflow()
    letters = [rows.failed_order(of) for _ in range(3)]
    address = f"{NEW}?group={letters[0].group_id}"

    asked = op.get(address).content.decode()
    made = op.post(address, {"scope": "STEP", "rate": "50", "reason": "partner is back"})

    redrive = Redrive.objects.get()
    assert "3 open dead letters" in asked
    assert "<script>alert" not in asked
    assert made.headers["Location"] == page_of(redrive)
    assert (redrive.state, redrive.total, redrive.rate) == ("DRAFT", 3, 50.0)
    assert redrive.group_id == letters[0].group_id
    draft = op.get(page_of(redrive)).content.decode()
    assert "Preview" in draft
    op.post(start_page(redrive), {"reason": "", "_form_submitted": "1"})
    redrive.refresh_from_db()
    assert redrive.state == "RUNNING"
    assert "Progress" in op.get(page_of(redrive)).content.decode()


def test_the_resume_dialog_says_that_a_pause_keeps_the_count_of_failures(op: Client) -> None:
    letters = [rows.failed_order(rows.workflow())]
    op.post(f"{NEW}?group={letters[0].group_id}", {"scope": "STEP"})
    redrive = Redrive.objects.get()
    Redrive.objects.update(state="PAUSED", recent="SFF")
    resume = reverse("admin:valkyr_redrive_redrive_operate_resume", args=[redrive.pk])

    asked = op.get(resume).content.decode()
    op.post(resume, {"reason": "", "_form_submitted": "1"})

    redrive.refresh_from_db()
    assert (redrive.state, redrive.recent) == ("RUNNING", "SFF")
    assert "After a stop, failures are counted from zero." in asked


def test_overrides_are_shown_before_they_run(op: Client) -> None:
    letter = rows.failed_order(rows.workflow())

    op.post(
        f"{NEW}?ids={letter.pk}", {"scope": "STEP", "overrides": '{"url": "http://mended.test"}'}
    )

    page = op.get(page_of(Redrive.objects.get())).content.decode()
    assert "Inputs before and after" in page
    assert "http://mended.test" in page


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"overrides": "{"}, "Invalid JSON"),
        ({"overrides": "[1]"}, "Expected an object such as {}, found array."),
        ({"overrides": "null"}, "found null."),
        ({"overrides": "true"}, "found boolean."),
        ({"overrides": "1.5"}, "found number."),
        ({"overrides": '"text"'}, "found string."),
        ({"overrides": '{"a": 1}', "expression": "{{ inputs }}"}, "not both"),
        ({"rate": "0"}, "greater than or equal to 0.01"),
        ({"rate": "nan"}, "Enter a number"),
        ({"version": "newest"}, "found &#x27;newest&#x27;"),
        ({"stop_above": "101"}, "less than or equal to 100"),
        ({"scope": "SOMETHING"}, "Select a valid choice"),
        ({"expression": "{{ nobody }}"}, "nobody"),
    ],
)
def test_a_wish_that_cannot_be_is_told_and_makes_nothing(
    op: Client, given: dict[str, str], said: str
) -> None:
    letter = rows.failed_order(rows.workflow())

    answer = op.post(f"{NEW}?ids={letter.pk}", {"scope": "STEP", **given})

    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert not Redrive.objects.exists()


@pytest.mark.parametrize("query", ["", "?group=x", "?ids=x", "?ids=", "?group=%00"])
def test_an_address_that_names_nothing_is_a_bad_request(op: Client, query: str) -> None:
    assert op.get(f"{NEW}{query}").status_code == 400


def test_ticked_entries_become_a_draft_and_later_ones_are_left_out(op: Client) -> None:
    of = rows.workflow()
    letters = [rows.failed_order(of) for _ in range(2)]
    form = {"action": "redrive_many", "_selected_action": [str(x.pk) for x in letters]}

    asked = op.post(ENTRIES, {**form, "select_across": "1"})
    newest = next(value for name, value in asked.context["chosen"].hidden if name == "newest")
    rows.failed_order(of)
    op.post(
        ENTRIES,
        {**form, "select_across": "1", "newest": newest, "confirmed": "yes", "scope": "STEP"},
    )

    assert set(RedriveItem.objects.values_list("entry_id", flat=True)) == {x.pk for x in letters}


def test_a_large_redrive_wants_its_number_typed(op: Client) -> None:
    letter = rows.failed_order(rows.workflow())
    redrive = rows.redrive(letter, "DRAFT")
    Redrive.objects.filter(pk=redrive.pk).update(total=101)

    refused = op.post(start_page(redrive), {"count": "100", "reason": "", "_form_submitted": "1"})

    assert "has 101 dead letters, not 100" in refused.content.decode()
    redrive.refresh_from_db()
    assert redrive.state == "DRAFT"


def test_who_may_not_redrive_sees_no_way_to(client: Client, django_user_model: Any) -> None:
    letter = rows.failed_order(rows.workflow())
    redrive = rows.redrive(letter, "DRAFT")
    ada = member(client, django_user_model, "SYSTEM")

    assert ada.get(f"{NEW}?ids={letter.pk}").status_code == 403
    assert ada.post(start_page(redrive), {"reason": "", "_form_submitted": "1"}).status_code == 403
    redrive.refresh_from_db()
    assert redrive.state == "DRAFT"


def test_another_workspaces_entries_are_not_redriven(
    client: Client, django_user_model: Any
) -> None:
    elsewhere = rows.failed_order(rows.workflow(owner=rows.workspace("other")))
    ada = member(client, django_user_model, "ADMIN")

    answer = ada.post(f"{NEW}?ids={elsewhere.pk}", {"scope": "STEP"})

    assert "Nothing to redrive" in answer.content.decode()
    assert ada.get(f"{NEW}?group={elsewhere.group_id}").status_code == 403
    assert not Redrive.objects.exists()


def test_items_are_shown_by_state(op: Client) -> None:
    redrive = rows.redrive(rows.failed_order(rows.workflow()), "DONE", failed_again=1)

    failed = op.get(f"{page_of(redrive)}?items=FAILED_AGAIN").content.decode()
    fine = op.get(f"{page_of(redrive)}?items=SUCCEEDED").content.decode()

    assert "failed again" in failed
    assert (
        reverse("admin:dlq_deadletterentry_change", args=[redrive.items.get().entry_id]) in failed
    )
    assert "None." in fine


@pytest.mark.parametrize(
    ("given", "made"),
    [({"scope": "FROM"}, 0), ({"scope": "EXECUTION", "version": "1"}, 0), ({"scope": "STEP"}, 1)],
)
def test_a_redrive_that_forks_needs_what_a_fork_needs(
    client: Client, django_user_model: Any, given: dict[str, str], made: int
) -> None:
    letter = rows.failed_order(rows.workflow())
    limited = member(client, django_user_model, "USER")
    user = django_user_model.objects.get(username="ada-user")
    assign_perm("read_workflow", user, letter.workflow)
    user.user_permissions.add(Permission.objects.get(codename="redrive"))

    answer = limited.post(f"{NEW}?ids={letter.pk}", given)

    assert Redrive.objects.count() == made
    assert made or "required permissions (redrive, operate" in answer.content.decode()


GROUPS = "/admin/dlq/failuregroup/"


def two_groups() -> list[Any]:
    """Create two groups with two open dead letters each."""
    of = rows.workflow()
    ended = [rows.execution(of, "FAILED") for _ in range(4)]
    letters = [
        rows.dead_letter(rows.run(one, f"s{number % 2}.main"), fingerprint=f"{number % 2:0<64}")
        for number, one in enumerate(ended)
    ]
    return sorted({letter.group_id for letter in letters})


def chosen_groups(groups: list[Any], **given: str) -> dict[str, Any]:
    return {
        "action": "redrive_groups",
        "_selected_action": [str(pk) for pk in groups],
        "select_across": "0",
        "scope": "STEP",
        **given,
    }


def test_several_groups_are_redriven_by_one_form(op: Client) -> None:
    groups = two_groups()

    asked = op.post(GROUPS, chosen_groups(groups))
    sent = chosen_groups(groups, confirmed="yes", start="yes", canary="1", reason="back")
    done = op.post(GROUPS, sent, follow=True)

    assert "4 open dead letters" in asked.content.decode()
    found = Redrive.objects.order_by("group_id")
    assert [(row.group_id, row.total, row.canary) for row in found] == [(pk, 2, 1) for pk in groups]
    assert {row.state for row in found} == {"RUNNING"}
    assert "2 redrives started." in done.content.decode()
    shown = op.get(reverse("admin:dlq_failuregroup_change", args=[groups[0]])).content.decode()
    assert "0 of 2 ended" in shown
    assert 'data-refresh="2"' in shown


def test_too_many_groups_are_not_counted(op: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The total includes only the groups that the form redrives, and confirms the start."""
    monkeypatch.setattr("valkyr_plugins.redrive.admin.many_groups.MOST_GROUPS", 1)
    monkeypatch.setattr("valkyr_plugins.redrive.admin.many_groups.TYPED_ABOVE", 1)
    groups = two_groups()

    asked = op.post(GROUPS, chosen_groups(groups))
    op.post(GROUPS, chosen_groups(groups, confirmed="yes", start="yes", count="2"))

    assert "<strong>2 open dead letters</strong> in total" in asked.content.decode()
    assert "Only the first 1 groups are included." in asked.content.decode()
    assert [(row.group_id, row.total) for row in Redrive.objects.all()] == [(groups[0], 2)]


def test_drafts_of_several_groups_are_made_without_a_start(op: Client) -> None:
    op.post(GROUPS, chosen_groups(two_groups(), confirmed="yes"))

    assert list(Redrive.objects.values_list("state", flat=True)) == ["DRAFT", "DRAFT"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"start": "yes", "count": "3"}, "Type the number of dead letters to confirm: 4"),
        ({"start": "yes"}, "Type the number of dead letters to confirm: 4"),
        ({"overrides": "["}, "Invalid JSON"),
        ({"scope": "STEP", "from_step": "x.main"}, "requires the scope FROM"),
    ],
)
def test_a_wish_for_several_groups_that_cannot_be_makes_nothing(
    op: Client, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], said: str
) -> None:
    monkeypatch.setattr("valkyr_plugins.redrive.admin.many_groups.TYPED_ABOVE", 3)

    answer = op.post(GROUPS, chosen_groups(two_groups(), confirmed="yes", **given))

    assert said in answer.content.decode()
    assert not Redrive.objects.exists()


def test_who_may_not_redrive_is_not_offered_it_for_groups(
    client: Client, django_user_model: Any
) -> None:
    groups = two_groups()
    ada = member(client, django_user_model, "SYSTEM")

    assert "redrive_groups" not in ada.get(GROUPS).content.decode()
    ada.post(GROUPS, chosen_groups(groups, confirmed="yes", start="yes"))
    assert not Redrive.objects.exists()


def test_many_entries_of_groups_need_the_permission_bulk(
    client: Client, django_user_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = two_groups()
    monkeypatch.setattr("valkyr_plugins.redrive.admin.forms.FREE_IDS", 3)
    limited = member(client, django_user_model, "USER")
    user = django_user_model.objects.get(username="ada-user")
    for pk in groups:
        assign_perm("read_workflow", user, FailureGroup.objects.get(pk=pk).workflow)
    user.user_permissions.add(Permission.objects.get(codename="redrive"))

    answer = limited.post(GROUPS, chosen_groups(groups, confirmed="yes", start="yes"))

    assert "You need the permission “bulk”" in answer.content.decode()
    assert not Redrive.objects.exists()


def test_a_large_redrive_is_proposed_with_a_canary(
    op: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = rows.failed_order(rows.workflow())
    address = f"{NEW}?ids={letter.pk}"
    assert op.get(address).context["form"].initial == {"scope": "STEP"}
    monkeypatch.setattr("valkyr_plugins.redrive.admin.forms.TYPED_ABOVE", 0)

    assert op.get(address).context["form"].initial["canary"] == 10
