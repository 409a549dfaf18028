"""Row-level security in a test's own transaction, as after a start with the setting."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from executions import configuration
from executions.database import row_scope, row_security


@contextmanager
def enabled() -> Iterator[None]:
    """Turn on the setting and create the policies for this block; the transaction reverts them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VALKYR_ROW_LEVEL_SECURITY", "1")
        configuration.forget()
        try:
            row_security.install()
            row_scope.watch_connection(connection)
            yield
        finally:
            patch.undo()
            configuration.forget()
