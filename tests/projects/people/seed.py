"""Migrate databases and fill them: accounts, and a row in each of Valkyr's tables.

    python -m tests.projects.people.seed ALIAS...

Prints ids as JSON.
"""

import json
import sys

import django

django.setup()

from django.core.management import call_command  # noqa: E402 - after the set-up

from executions.models import Membership, Workspace  # noqa: E402
from tests.projects.people.models import Membership as Club  # noqa: E402
from tests.projects.people.models import Person  # noqa: E402
from tests.projects.people.seed_words import PASSWORD  # noqa: E402
from tests.support import admin_rows  # noqa: E402
from tests.support.workflows import publish, task  # noqa: E402


def main() -> None:
    for alias in sys.argv[1:]:
        call_command("migrate", verbosity=0, database=alias)
    workspace = Workspace.objects.get(slug=Workspace.DEFAULT_SLUG)
    ada = Person.objects.create_superuser("ada@example.org", PASSWORD)
    bob = Person.objects.create_user("bob@example.org", "ops", PASSWORD)
    Club.objects.create(person=bob, club="chess")
    for person, role in ((ada, "ADMIN"), (bob, "WORKFLOW")):
        Membership.objects.create(workspace=workspace, user=person, role=role)
    admin_rows.one_of_each(admin_rows.workflow())
    chain = publish(
        {"schema": "valkyr/1", "name": "chain", "tasks": [task("one"), task("two", after="one")]}
    )
    told = {"ada": ada.pk, "bob": bob.pk, "workspace": workspace.pk, "chain": chain.pk}
    print(json.dumps({name: str(value) for name, value in told.items()}))


if __name__ == "__main__":
    main()
