"""Single sign-on with a real identity provider, and with one that lies."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import Client

from executions.database.clock import database_now
from executions.models import Activity, ApiToken, Membership, ServiceAccount, Tier, Workspace
from tests.support.identity import (
    Liar,
    Provider,
    begin,
    query_of,
    running_liar,
    running_provider,
)
from tests.support.rates import forget_rates

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
GROUPS = {
    "engineers": "default:WORKFLOW",
    "owners": ["default:ADMIN", "lab:ADMIN"],
    "bots": "lab:USER",
}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running_provider() as running:
        yield running


@pytest.fixture
def liar() -> Iterator[Liar]:
    with running_liar() as running:
        yield running


@pytest.fixture(autouse=True)
def _places(db: None, static_files: None) -> None:
    cache.clear()
    forget_rates()
    tier, _ = Tier.objects.get_or_create(name="unlimited")
    for slug in ("default", "lab"):
        Workspace.objects.get_or_create(slug=slug, defaults={"name": slug, "tier": tier})


@pytest.fixture
def sso(settings: Any, provider: Provider) -> Any:
    """Enable single sign-on; return the function that enables it with other settings."""

    def use(**more: Any) -> None:
        settings.VALKYR = settings.VALKYR | provider.settings(roles=GROUPS, **more)

    use()
    return use


def sign_in(client: Client, provider: Provider, subject: str, wanted: str = "") -> Any:
    return client.get(provider.consent(begin(client, wanted), subject))


def who(client: Client) -> str | None:
    """Return the name of the signed-in user; None if there is none."""
    pk = client.session.get("_auth_user_id")
    return get_user_model().objects.get(pk=pk).username if pk else None


def roles(username: str) -> dict[str, str]:
    rows = Membership.objects.filter(user__username=username).select_related("workspace")
    return {row.workspace.slug: row.role for row in rows}


def test_a_first_sign_in_makes_a_user_with_the_memberships_of_the_groups(
    client: Client, provider: Provider, sso: Any
) -> None:
    provider.person(
        "u1", preferred_username="grace", given_name="Grace", family_name="Hopper",
        email="grace@example.org", email_verified=True, groups=["engineers", "unknown"],
    )  # fmt: skip

    answer = sign_in(client, provider, "u1")

    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    grace = get_user_model().objects.get(username="grace")
    assert who(client) == "grace"
    assert (grace.email, grace.get_full_name()) == ("grace@example.org", "Grace Hopper")
    assert grace.is_staff
    assert not grace.is_superuser
    assert not grace.has_usable_password()
    assert roles("grace") == {"default": "WORKFLOW"}
    noted = Activity.objects.filter(actor_name="grace").order_by("created_at", "id")
    assert [row.action for row in noted] == ["user.create", "membership.create", "account.sign_in"]
    assert {(row.via, row.address) for row in noted} == {("single sign-on", "127.0.0.1")}
    assert client.get("/admin/").status_code == 200


def test_a_second_sign_in_finds_the_user_under_whatever_name_and_address(
    client: Client, provider: Provider, sso: Any
) -> None:
    provider.person("u2", preferred_username="lin", email="lin@example.org")
    sign_in(client, provider, "u2")
    provider.person("u2", preferred_username="other", email="other@example.org")

    sign_in(Client(), provider, "u2")

    assert get_user_model().objects.filter(socialaccount__uid="u2").count() == 1
    assert not get_user_model().objects.filter(username="other").exists()


def test_memberships_follow_the_groups_and_those_given_by_hand_stay(
    client: Client, provider: Provider, sso: Any
) -> None:
    provider.person("u3", preferred_username="mia", groups=["owners"])
    sign_in(client, provider, "u3")
    assert roles("mia") == {"default": "ADMIN", "lab": "ADMIN"}
    assert get_user_model().objects.get(username="mia").is_staff
    Membership.objects.filter(user__username="mia", workspace__slug="lab").update(
        role="USER", source=""
    )

    provider.person("u3", preferred_username="mia", groups=["engineers", "bots"])
    sign_in(client, provider, "u3")
    assert roles("mia") == {"default": "WORKFLOW", "lab": "USER"}
    provider.person("u3", preferred_username="mia")
    answer = sign_in(client, provider, "u3")

    assert roles("mia") == {"lab": "USER"}
    assert answer["Location"] == "/docs"
    assert not get_user_model().objects.get(username="mia").is_staff
    changes = Activity.objects.filter(action__startswith="membership", actor_name="mia")
    assert sorted(row.action for row in changes) == [
        "membership.create", "membership.create", "membership.delete", "membership.update",
    ]  # fmt: skip


def test_access_to_the_admin_given_by_hand_stays(
    client: Client, provider: Provider, sso: Any
) -> None:
    provider.person("u31", preferred_username="noa", groups=["bots"])
    sign_in(client, provider, "u31")
    get_user_model().objects.filter(username="noa").update(is_staff=True)
    sign_in(client, provider, "u31")
    assert get_user_model().objects.get(username="noa").is_staff

    provider.person("u31", preferred_username="noa")
    sign_in(client, provider, "u31")

    assert roles("noa") == {}
    assert get_user_model().objects.get(username="noa").is_staff


def test_a_lower_role_of_the_groups_ends_access_to_the_admin(
    client: Client, provider: Provider, settings: Any
) -> None:
    groups = {"engineers": "default:WORKFLOW", "guests": "default:USER"}
    settings.VALKYR = settings.VALKYR | provider.settings(roles=groups)
    provider.person("u32", preferred_username="ola", groups=["engineers"])
    sign_in(client, provider, "u32")
    assert get_user_model().objects.get(username="ola").is_staff

    provider.person("u32", preferred_username="ola", groups=["guests"])
    sign_in(client, provider, "u32")

    assert roles("ola") == {"default": "USER"}
    assert not get_user_model().objects.get(username="ola").is_staff


def test_nobody_takes_over_an_account_by_its_name_or_address(
    client: Client, provider: Provider, sso: Any
) -> None:
    local = get_user_model().objects.create_superuser("root", "root@example.org", PASSWORD)
    provider.person("u4", preferred_username="ROOT", email="root@example.org", email_verified=True)

    sign_in(client, provider, "u4")

    made = get_user_model().objects.get(socialaccount__uid="u4")
    assert made != local
    assert made.username.startswith("ROOT-")
    assert not made.is_staff
    assert who(client) == made.username


@pytest.mark.parametrize(
    ("verified", "superuser", "linked"),
    [(True, False, True), (False, False, False), ("false", False, False), (True, True, False)],
)
def test_an_account_is_linked_by_a_verified_address_only_where_the_settings_say_so(
    client: Client, provider: Provider, sso: Any, verified: Any, superuser: bool, linked: bool
) -> None:
    sso(link_by_email=True)
    local = get_user_model().objects.create_user("ida", "ida@example.org", PASSWORD)
    local.is_superuser = superuser
    local.save()
    provider.person("u5", email="IDA@example.org", email_verified=verified)

    sign_in(client, provider, "u5")

    assert (who(client) == "ida") is linked


def test_an_administrator_links_an_account_by_command(
    client: Client, provider: Provider, sso: Any
) -> None:
    sso(create_users=False)
    get_user_model().objects.create_user("eva")
    unknown = sign_in(client, provider, "u6")
    assert unknown.status_code == 403
    assert "link_sign_in" in unknown.content.decode()
    assert "u6" in unknown.content.decode()
    assert who(client) is None

    call_command("link_sign_in", "eva", "u6", verbosity=0)
    sign_in(client, provider, "u6")

    assert who(client) == "eva"
    with pytest.raises(CommandError, match="already linked to an account"):
        call_command("link_sign_in", "eva", "u6")
    with pytest.raises(CommandError, match="no user"):
        call_command("link_sign_in", "nobody", "u7")


def test_only_people_of_the_allowed_domains_come_in(
    client: Client, provider: Provider, sso: Any
) -> None:
    sso(domains=("example.org",))
    refused = [("a@example.com", True), ("a@example.org", False), ("a@x.example.org", True)]
    for number, (email, verified) in enumerate(refused):
        provider.person(f"d{number}", email=email, email_verified=verified)
        assert sign_in(client, provider, f"d{number}").status_code == 403, email
    assert not SocialAccount.objects.exists()
    provider.person("d9", email="a@EXAMPLE.org", email_verified=True)

    assert sign_in(client, provider, "d9").status_code == 302


def test_a_user_who_is_switched_off_stays_out(client: Client, provider: Provider, sso: Any) -> None:
    provider.person("u8", preferred_username="zoe", groups=["engineers"])
    sign_in(client, provider, "u8")
    get_user_model().objects.filter(username="zoe").update(is_active=False)
    assert client.get("/v1/Workflow").status_code == 401

    answer = sign_in(Client(), provider, "u8")

    assert answer.status_code == 403
    assert "account is disabled" in answer.content.decode()


def token_of(username: str) -> ApiToken:
    user = get_user_model().objects.get(username=username)
    return ApiToken.objects.create(
        user=user, workspace=user.valkyr_memberships.get().workspace, name="mine",
        digest=username, prefix="vlk_", scopes=["view"],
        expires_at=database_now() + timedelta(days=9),
    )  # fmt: skip


def test_tokens_of_a_user_who_is_switched_off_end_for_good(
    client: Client, provider: Provider, sso: Any
) -> None:
    provider.person("t1", preferred_username="zoe", groups=["engineers"])
    sign_in(client, provider, "t1")
    token = token_of("zoe")

    users = get_user_model().objects.filter(username="zoe")
    users.update(is_active=False)
    users.update(is_active=True)

    token.refresh_from_db()
    assert token.revoked_at is not None


def test_who_is_refused_at_the_door_loses_sessions_and_tokens(
    client: Client, provider: Provider, sso: Any
) -> None:
    provider.person(
        "t2", preferred_username="tom", email="t@example.org", email_verified=True,
        groups=["engineers"],
    )  # fmt: skip
    sign_in(client, provider, "t2")
    token = token_of("tom")
    assert client.get("/v1/Workflow").status_code == 200
    sso(domains=("example.com",))

    assert sign_in(Client(), provider, "t2").status_code == 403

    token.refresh_from_db()
    assert token.revoked_at is not None
    assert client.get("/v1/Workflow").status_code == 401
    line = Activity.objects.get(action="user.shut_out")
    assert (line.after, line.actor_name) == ({"tokens": 1, "sessions": 1}, "tom")


def test_who_loses_a_group_loses_the_tokens_of_its_workspace(
    client: Client, provider: Provider, sso: Any
) -> None:
    provider.person("t3", preferred_username="tea", groups=["engineers"])
    sign_in(client, provider, "t3")
    token = token_of("tea")
    provider.person("t3", preferred_username="tea", groups=[])

    sign_in(client, provider, "t3")

    token.refresh_from_db()
    assert token.revoked_at is not None


def test_a_state_serves_once_and_only_in_the_browser_that_began(
    client: Client, provider: Provider, sso: Any
) -> None:
    back = provider.consent(begin(client), "u9")
    elsewhere = Client().get(back)
    made_up = client.get("/sso/callback", {"code": "x", "state": "made-up"})
    first, again = client.get(back), client.get(back)

    statuses = [answer.status_code for answer in (elsewhere, made_up, first, again)]
    assert statuses == [400, 400, 302, 400]
    assert "began in another browser" in elsewhere.content.decode()


def test_a_token_for_another_sign_in_is_refused(
    client: Client, provider: Provider, sso: Any
) -> None:
    asked = begin(client)
    nonce = query_of(asked)["nonce"]

    answer = client.get(provider.consent(asked.replace(nonce, "another"), "u10"))

    assert answer.status_code == 502
    assert who(client) is None


def test_a_used_or_made_up_code_is_refused(client: Client, provider: Provider, sso: Any) -> None:
    back = query_of(provider.consent(begin(client), "u11"))
    client.get("/sso/callback", back)
    client.logout()
    for code in (back["code"], "made-up", ""):
        state = query_of(begin(client))["state"]
        answer = client.get("/sso/callback", {"code": code, "state": state})
        assert answer.status_code == 502, code
        assert who(client) is None


def test_whoever_cancels_at_the_provider_is_told_so(
    client: Client, provider: Provider, sso: Any
) -> None:
    answer = client.get(provider.consent(begin(client), "u12", action="deny"))

    # This provider drops the state when it sends a rejection; others do not.
    assert answer.status_code in {400, 401}
    state = query_of(begin(client))["state"]
    cancelled = client.get("/sso/callback", {"error": "access_denied", "state": state})
    assert cancelled.status_code == 401
    assert "cancelled" in cancelled.content.decode()


@pytest.mark.parametrize(
    "wanted",
    ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "\x00"],
)
def test_a_sign_in_leads_nowhere_else(
    client: Client, provider: Provider, sso: Any, wanted: str
) -> None:
    answer = sign_in(client, provider, "u13", wanted)

    assert answer["Location"] == "/docs"
    assert sign_in(client, provider, "u13", "/docs?x=1")["Location"] == "/docs?x=1"


def test_the_caller_chooses_no_parameter_and_no_process(client: Client, sso: Any) -> None:
    query = {"process": "connect", "scope": "admin", "auth_params": "redirect_uri=https://evil"}
    answer = client.get("/sso/begin", query)

    asked = query_of(answer["Location"])
    assert asked["redirect_uri"] == "http://testserver/sso/callback"
    assert set(asked["scope"].split()) == {"openid", "profile", "email"}
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["state"]) >= 16
    states = client.session["socialaccount_states"].values()
    assert [state[0]["process"] for state in states] == ["login"]


def test_signing_out_ends_the_session(client: Client, provider: Provider, sso: Any) -> None:
    provider.person("u14", groups=["engineers"])
    sign_in(client, provider, "u14")
    assert client.get("/v1/Workflow").status_code == 200

    client.post("/admin/logout/")

    assert client.get("/v1/Workflow").status_code == 401


def test_sign_ins_that_are_begun_too_often_are_refused(client: Client, sso: Any) -> None:
    answers = [client.get("/sso/begin").status_code for _ in range(61)]

    assert answers == [302] * 60 + [429]


def test_a_program_signs_in_by_no_provider(client: Client, provider: Provider, sso: Any) -> None:
    sso(link_by_email=True)
    workspace = Workspace.objects.get(slug="lab")
    robot = get_user_model().objects.create_user("robot", "robot@example.org")
    ServiceAccount.objects.create(workspace=workspace, user=robot, name="robot")
    provider.person("u15", email="robot@example.org", email_verified=True)

    sign_in(client, provider, "u15")

    assert who(client) not in {"robot", None}
    with pytest.raises(CommandError, match="is a service account"):
        call_command("link_sign_in", "robot", "u16")


def test_a_provider_that_is_away_is_a_clear_page(client: Client, settings: Any) -> None:
    with running_liar() as gone:
        settings.VALKYR = settings.VALKYR | gone.settings()
        state = query_of(begin(client))["state"]

    for address in ("/sso/begin", f"/sso/callback?code=x&state={state}"):
        answer = client.get(address)
        assert answer.status_code == 502
        assert "could not be reached" in answer.content.decode()


def lie_signature(liar: Liar) -> None:
    liar.signs_with = Liar("").key


def lie_shared_secret(liar: Liar) -> None:
    liar.signs_with, liar.algorithm = "s3cret" * 8, "HS256"


def lie_unsigned(liar: Liar) -> None:
    liar.signs_with, liar.algorithm = None, "none"


def claim(**changed: Any) -> Any:
    def lie(liar: Liar) -> None:
        liar.claims |= changed

    return lie


def discovery(**changed: Any) -> Any:
    def lie(liar: Liar) -> None:
        liar.discovery |= changed

    return lie


def lie_about_the_token(liar: Liar) -> None:
    liar.token["id_token"] = ["no", "text"]


def lie_about_the_answer(liar: Liar) -> None:
    liar.token = {"access_token": None, "expires_in": "soon"}
    liar.claims["nonce"] = 7


def lie_about_the_person(liar: Liar) -> None:
    liar.user_info = {"sub": "root", "groups": ["owners"]}


LIES = {
    "signature": lie_signature,
    "shared secret": lie_shared_secret,
    "unsigned": lie_unsigned,
    "issuer": claim(iss="https://other.example"),
    "audience": claim(aud="another-client"),
    "presenter": claim(aud=["valkyr-tests", "another"], azp="another"),
    "expired": claim(exp=1_000_000_000),
    "no subject": claim(sub=""),
    "subject no text": claim(sub=7),
    "long subject": claim(sub="x" * 192),
    "NUL in the subject": claim(sub="x\x00"),
    "no nonce": claim(nonce=None),
    "token": lie_about_the_token,
    "answer": lie_about_the_answer,
    "person": lie_about_the_person,
    "discovery": discovery(issuer="https://other.example"),
    "no keys": discovery(jwks_uri=None),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_lets_nobody_in(client: Client, settings: Any, liar: Liar, name: str) -> None:
    settings.VALKYR = settings.VALKYR | liar.settings()
    asked = query_of(begin(client))
    liar.claims["nonce"] = asked["nonce"]
    LIES[name](liar)

    answer = client.get("/sso/callback", {"code": "x", "state": asked["state"]})

    assert answer.status_code == 502
    assert who(client) is None
    assert not SocialAccount.objects.exists()


def test_the_truth_lets_in_and_proves_the_code_is_ours(
    client: Client, settings: Any, liar: Liar
) -> None:
    settings.VALKYR = settings.VALKYR | liar.settings()
    asked = query_of(begin(client))
    liar.claims["nonce"] = asked["nonce"]

    answer = client.get("/sso/callback", {"code": "x", "state": asked["state"]})

    assert answer.status_code == 302
    assert len(liar.asked[0]["code_verifier"]) >= 43
    assert "client_secret" not in liar.asked[0]


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_the_provider_is_asked(
    client: Client, settings: Any, liar: Liar
) -> None:
    ours, held = connections["default"], []
    ours.close()
    kept, ours.settings_dict["CONN_MAX_AGE"] = ours.settings_dict["CONN_MAX_AGE"], 0
    settings.VALKYR = settings.VALKYR | liar.settings()
    liar.listen = lambda: held.append(ours.connection is not None)
    try:
        asked = query_of(begin(client))
        liar.claims["nonce"] = asked["nonce"]
        answer = client.get("/sso/callback", {"code": "x", "state": asked["state"]})
    finally:
        ours.close()
        ours.settings_dict["CONN_MAX_AGE"] = kept

    assert answer.status_code == 302
    # Discovery twice, the code, the keys, the user.
    assert held == [False] * 5


@pytest.mark.parametrize(
    "claims",
    [
        {"preferred_username": "a" * 500, "email": 7, "given_name": ["x"], "groups": {"a": 1}},
        {"preferred_username": "<script>", "email": "\x00@x", "family_name": "\x00", "groups": [1]},
        {"groups": "owners", "email": "no address", "email_verified": True},
    ],
)
def test_odd_claims_make_a_user_nonetheless(
    client: Client, settings: Any, liar: Liar, claims: dict[str, Any]
) -> None:
    settings.VALKYR = settings.VALKYR | liar.settings(roles=GROUPS)
    liar.user_info |= claims
    asked = query_of(begin(client))
    liar.claims["nonce"] = asked["nonce"]

    answer = client.get("/sso/callback", {"code": "x", "state": asked["state"]})

    assert answer.status_code == 302
    user = get_user_model().objects.get(socialaccount__uid="ada")
    assert user.username.startswith("person-")
    assert user.email == ""
    assert bool(roles(user.username)) is (claims["groups"] == "owners")


def test_a_verified_address_vouches_for_no_other(client: Client, settings: Any, liar: Liar) -> None:
    settings.VALKYR = settings.VALKYR | liar.settings()
    liar.user_info |= {"email": "ada@example.org", "email_verified": True}
    asked = query_of(begin(client))
    liar.claims |= {"nonce": asked["nonce"], "email": "root@example.org"}

    client.get("/sso/callback", {"code": "x", "state": asked["state"]})

    assert get_user_model().objects.get(socialaccount__uid="ada").email == ""


def test_the_same_subject_of_another_issuer_is_somebody_else(
    client: Client, settings: Any, provider: Provider, sso: Any, liar: Liar
) -> None:
    sign_in(client, provider, "ada")
    first = who(client)
    settings.VALKYR = settings.VALKYR | liar.settings()
    client.logout()
    asked = query_of(begin(client))
    liar.claims["nonce"] = asked["nonce"]
    client.get("/sso/callback", {"code": "x", "state": asked["state"]})

    assert who(client) not in {first, None}


def test_without_a_provider_nothing_of_it_is_there(client: Client) -> None:
    for address in ("/sso/begin", "/sso/callback", "/accounts/login/", "/accounts/signup/"):
        assert client.get(address).status_code == 404, address
    assert "Sign in with" not in client.get("/admin/login/").content.decode()


def test_with_a_provider_nothing_else_of_allauth_is_there(client: Client, sso: Any) -> None:
    for page in ("login", "signup", "logout", "password/reset", "email", "social/connections"):
        assert client.get(f"/accounts/{page}/").status_code == 404, page
        assert client.get(f"/sso/{page}/").status_code == 404, page
    assert client.post("/sso/begin").status_code == 405


def test_the_sign_in_page_has_a_button_and_only_it_where_passwords_are_off(
    client: Client, sso: Any
) -> None:
    both = client.get("/admin/login/?next=/admin/executions/workflow/").content.decode()
    assert "Sign in with Example ID" in both
    assert 'href="/sso/begin?next=%2Fadmin%2Fexecutions%2Fworkflow%2F"' in both
    assert 'name="password"' in both
    sso(only=True)

    assert 'name="password"' not in client.get("/admin/login/").content.decode()
    assert 'name="password"' in client.get("/admin/login/?password").content.decode()


def test_where_passwords_are_off_only_superusers_have_one(client: Client, sso: Any) -> None:
    users = get_user_model().objects
    users.create_user("ada", password=PASSWORD, is_staff=True)
    users.create_superuser("root", password=PASSWORD)
    ada = {"username": "ada", "password": PASSWORD}
    client.post("/admin/login/", ada)
    assert who(client) == "ada"
    pair = client.post("/v1/auth/token", ada, content_type="application/json").json()
    sso(only=True)

    # The session that her password began has ended, too.
    assert client.get("/v1/Workflow").status_code == 401
    fresh = Client()
    assert fresh.post("/admin/login/", ada).status_code == 200
    assert who(fresh) is None
    refresh = {"refresh": pair["refresh"]}
    for address, body in (("/v1/auth/token", ada), ("/v1/auth/token/refresh", refresh)):
        assert fresh.post(address, body, content_type="application/json").status_code == 401
    fresh.post("/admin/login/", ada | {"username": "root"})
    assert who(fresh) == "root"
