"""With row-level security, tools and proposals give the same answers."""

import pytest

from .test_proposals import (  # noqa: F401 - fixtures, and the tests that run again
    test_a_proposal_changes_nothing_until_a_person_approves_it,
    test_a_token_with_the_scope_unattended_acts_at_once_within_its_other_scopes,
    workflow,
)
from .test_server import (  # noqa: F401
    test_a_tool_shows_only_the_workspace_of_the_token,
    test_lists_have_pages,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def limited(row_level_security: None) -> None:
    """Apply the setting to every request."""
