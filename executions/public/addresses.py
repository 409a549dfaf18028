"""Find the URLs of operations and pages from their route names."""

from executions.addresses import (
    admin,
    admin_or_none,
    api,
    below_root,
    has,
    page,
    public,
    public_page,
    root,
    shown_page,
    sign_in,
)

__all__ = [
    "admin",
    "admin_or_none",
    "api",
    "below_root",
    "has",
    "page",
    "public",
    "public_page",
    "root",
    "shown_page",
    "sign_in",
]
