"""What the user reads once everything is ready."""

from valkyr_project.up.credentials import FILE, StackCredentials
from valkyr_project.up.options import Options
from valkyr_project.up.scraping import FILE as TARGETS


def closing_block(
    options: Options, credentials: StackCredentials, admin_state: str, seconds: float
) -> str:
    """Where everything is and how to sign in."""
    stored = f"password in {options.home / FILE}"
    flower = f"user {credentials.username}, {stored} (FLOWER_PASSWORD)"
    return f"""
Valkyr is ready ({seconds:.1f} s).

  Admin     {options.web_url}/admin/
            user {credentials.username}, {_password(credentials, admin_state, stored)}
  API docs  {options.web_url}/docs
  Flower    {options.flower_url}/
            {flower}
  Metrics   {options.web_url}/metrics (for Prometheus, all processes: {options.home / TARGETS})
  Data      {options.home} (logs in logs/)

Ctrl-C stops everything and keeps the data.
"""


def _password(credentials: StackCredentials, admin_state: str, stored: str) -> str:
    if admin_state == "exists with another password":
        return (
            "with the password set earlier (forgotten? .venv/bin/python -m valkyr_project.up.shell "
            f"changepassword {credentials.username})"
        )
    if not credentials.password_is_ours:
        return "with the password from VALKYR_ADMIN_PASSWORD"
    if admin_state == "created":
        return f"password {credentials.password} (kept in {FILE} below)"
    return f"{stored} (VALKYR_ADMIN_PASSWORD)"
