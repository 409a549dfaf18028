"""Report the addresses of the databases with the engine's tables."""

from urllib.parse import quote

from django.conf import settings as django_settings

from executions.database.poolers import direct_url
from executions.database.routing import aliases

REPLICA = "replica"


def own_addresses() -> list[str]:
    """Return URLs of Valkyr's databases, of the replica and of the direct connections.

    The URLs of the databases contain only the host and the port. The direct URL of a database
    without a pooler is "".
    """
    own = (*aliases(), REPLICA)
    given = [django_settings.DATABASES[name] for name in own if name in django_settings.DATABASES]
    found = [
        f"postgres://{quote(str(one.get('HOST') or ''), safe='')}:{one.get('PORT') or 5432}"
        for one in given
        if "postgres" in str(one.get("ENGINE"))
    ]
    return [*found, *(direct_url(name) for name in aliases())]
