"""How the admin looks and what its side bar lists."""

from typing import Any

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Valkyr",
    "SITE_HEADER": "Valkyr",
}
