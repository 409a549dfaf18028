"""Fixtures: users with and without a second factor."""

from collections.abc import Callable
from typing import Any

import pyotp
import pytest
from django.test import Client

from executions.models import Tier, Workspace
from tests.support.rates import forget_rates
from valkyr_plugins.mfa import factors
from valkyr_plugins.mfa.codes import STEP_SECONDS
from valkyr_plugins.mfa.models import SecondFactor

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def _places(db: None, static_files: None) -> None:
    forget_rates()
    tier, _ = Tier.objects.get_or_create(name="unlimited")
    Workspace.objects.get_or_create(slug="default", defaults={"name": "Default", "tier": tier})


class App:
    """A user's authenticator app; each code that it returns belongs to another time step."""

    def __init__(self, user: Any) -> None:
        self.user = user
        self.secret = ""

    def begin(self) -> None:
        """Read the secret of a set-up that has begun."""
        factor = SecondFactor.objects.get(user=self.user)
        self.secret = factors.secret_of(factor)

    def code(self, steps: int = 0) -> str:
        """Return the code that the app shows, `steps` time steps from now; reset accepted codes."""
        SecondFactor.objects.filter(user=self.user).update(last_step=0)
        return self.same_code(steps)

    def same_code(self, steps: int = 0) -> str:
        """Return the same code, without resetting the server's memory."""
        from executions.database.clock import database_now

        now = int(database_now().timestamp()) // STEP_SECONDS
        return pyotp.HOTP(self.secret).at(now + steps)

    def wrong(self) -> str:
        """Return a code that is valid in none of the current time steps."""
        near = {self.same_code(step) for step in range(-3, 4)}
        return next(f"{number:06}" for number in range(10) if f"{number:06}" not in near)


@pytest.fixture
def ada(django_user_model: Any) -> Any:
    """Create a superuser without a second factor."""
    return django_user_model.objects.create_superuser("ada", password=PASSWORD)


@pytest.fixture
def app() -> Callable[[Any], App]:
    """Return a function that gives a user a confirmed factor and returns the app."""

    def enrolled(user: Any) -> App:
        from executions.access.actor import Actor

        factors.begin(user)
        made = App(user)
        made.begin()
        factors.confirm(user, made.same_code(), Actor.system("tests"))
        return made

    return enrolled


def sign_in(client: Client, name: str = "ada", wanted: str = "/admin/") -> Any:
    """Submit the admin's form for a name and a password."""
    data = {"username": name, "password": PASSWORD}
    return client.post(f"/admin/login/?next={wanted}", data)
