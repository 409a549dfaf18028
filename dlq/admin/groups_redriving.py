"""Where one goes on from a group: to a new redrive of all its open entries."""

from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse


def redrive_address(group_id: UUID) -> str:
    """The page that plans a redrive of a group."""
    return f"{reverse('admin:dlq_redrive_new')}?{urlencode({'group': group_id})}"
