"""A payload store in a folder for values above 4 KiB, and an answer above this limit."""

from pathlib import Path
from typing import Any

TEXT = "x" * 20_000


def use_store(settings: Any, folder: Path) -> Path:
    """Set a payload store below the folder in the settings; return its path."""
    settings.VALKYR = {
        **getattr(settings, "VALKYR", {}),
        "PAYLOAD_STORE": f"file://{folder}/payloads",
        "PAYLOAD_STORE_ABOVE": 4_096,
    }
    return folder / "payloads"


def answer(text: str = TEXT) -> dict[str, Any]:
    """Return an output of `http.request` with this text."""
    return {
        "status": 200, "headers": {}, "body": {"id": text}, "bodyEncoding": "json", "url": "u",
        "durationMs": 1,
    }  # fmt: skip
