"""Third-party apps, with this project's changes."""

from django.contrib.admin.apps import AdminConfig

from runners.apps import RunnersConfig


class Backoffice(AdminConfig):
    default_site = "bureau.site.Backoffice"


class Runs(RunnersConfig):
    label = "valkyr_runners"  # `company.runners` has the other
