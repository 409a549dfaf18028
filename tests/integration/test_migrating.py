"""What `migrate` does to its connection."""

import pytest
from django.core.management import call_command
from django.db import connection

pytestmark = pytest.mark.django_db


def test_migrating_has_longer_than_a_frozen_client_to_think() -> None:
    call_command("migrate", verbosity=0)

    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        assert cursor.fetchone() == ("1min",)
