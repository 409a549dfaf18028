"""Each operation as each role again, with row-level security: the answers are the same."""

import pytest

from .test_roles import (  # noqa: F401 - fixtures, and the tests that run again
    names,
    people,
    test_a_list_holds_what_one_may_see,
    test_each_role_may_do_what_the_table_says,
    test_what_is_elsewhere_is_answered_like_what_is_nowhere,
    things,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def limited(row_level_security: None) -> None:
    """Apply the setting to the requests that create the rows, too."""
