"""Publish the Python workflows whose content has changed."""

from typing import Any

from django.core.management.base import BaseCommand

from valkyr_plugins.python_workflows.publishing import publish_all


class Command(BaseCommand):
    """Publishes every Python workflow whose content changed, as `migrate` does."""

    help = "Publish the workflows in Python whose content changed."

    def handle(self, *args: Any, **options: Any) -> None:
        """Publish; print a line for each new version, and how many workflows were up to date."""
        published = publish_all()
        made = [(slug, version) for slug, version in published.items() if version.created]
        for slug, version in made:
            self.stdout.write(f"{slug}: version {version.number}")
        self.stdout.write(f"{len(made)} published, {len(published) - len(made)} current")
