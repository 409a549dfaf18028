"""Publish the Python workflows whose content has changed."""

from typing import Any

from django.core.management.base import BaseCommand

from valkyr_plugins.python_workflows.publishing import publish_all


class Command(BaseCommand):
    """Publishes every Python workflow whose content changed, as `migrate` does."""

    help = "Publish the workflows in Python whose content changed."

    def handle(self, *args: Any, **options: Any) -> None:
        """Publish workflows; print each new version, then the numbers of new and unchanged ones."""
        published = publish_all()
        made = [(slug, version) for slug, version in published.items() if version.created]
        for slug, version in made:
            self.stdout.write(f"{slug}: version {version.number}")
        self.stdout.write(f"{len(made)} published, {len(published) - len(made)} current")
