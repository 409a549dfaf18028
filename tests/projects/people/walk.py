"""Open every page of the admin as an administrator; print the failing ones, one per line.

    python -m tests.projects.people.walk [both]

With `both`, also open the pages of the project's second site: the same models, registered again.
"""

import sys
import traceback
from collections.abc import Iterator
from typing import Any

import django

django.setup()

from django.contrib import admin  # noqa: E402 - after the set-up
from django.contrib.admin import AdminSite  # noqa: E402
from django.test import Client, RequestFactory  # noqa: E402
from django.urls import reverse  # noqa: E402

from tests.projects.people.models import Person  # noqa: E402
from tests.projects.people.urls import office  # noqa: E402


def addresses(person: Person, site: AdminSite) -> Iterator[str]:
    """Yield lists, forms to add, objects' pages and their dialogs."""
    request: Any = RequestFactory().get("/")
    request.user = person
    for model, page in site._registry.items():
        name = f"{site.name}:{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"{name}_changelist")
        yield from (reverse(f"{name}_{action}") for action in getattr(page, "actions_list", ()))
        if page.has_add_permission(request):
            yield reverse(f"{name}_add")
        row = model._default_manager.order_by("pk").first()
        if row is None:
            continue
        yield reverse(f"{name}_change", args=[row.pk])
        actions = {*getattr(page, "actions_detail", ()), *getattr(page, "actions_row", ())}
        yield from (reverse(f"{name}_{action}", args=[row.pk]) for action in sorted(actions))
    yield reverse(f"{site.name}:index")


def main() -> None:
    person = Person.objects.get(email="ada@example.org")
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(person)
    opened = 0
    sites = (admin.site, office) if "both" in sys.argv else (admin.site,)
    for address in (*(page for site in sites for page in addresses(person, site)), "/studio/"):
        opened += 1
        try:
            status = client.get(address).status_code
        except Exception:
            print(f"{address}: {traceback.format_exc(limit=-3)}")
        else:
            # Buttons that link to other pages redirect.
            if status not in {200, 302}:
                print(f"{address}: {status}")
    print(f"{opened} opened")


if __name__ == "__main__":
    main()
