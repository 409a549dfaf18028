"""Report the addresses of the databases with the engine's tables."""

from urllib.parse import quote

from django.conf import settings as django_settings

from executions.configuration import settings as valkyr_settings
from executions.database.routing import aliases

REPLICA = "replica"


def own_addresses() -> list[str]:
    """Return the URLs, without user names, of Valkyr's databases, replica and direct connection."""
    own = (*aliases(), REPLICA)
    given = [django_settings.DATABASES[name] for name in own if name in django_settings.DATABASES]
    found = [
        f"postgres://{quote(str(one.get('HOST') or ''), safe='')}:{one.get('PORT') or 5432}"
        for one in given
        if "postgres" in str(one.get("ENGINE"))
    ]
    return [*found, valkyr_settings().database_direct_url]
