"""A payload store in a folder, for values above 4 KiB, and an answer that is larger."""

from pathlib import Path
from typing import Any

TEXT = "x" * 20_000


def use_store(settings: Any, folder: Path) -> Path:
    """Let the settings name a payload store below the folder; return where it is."""
    settings.VALKYR = {
        **getattr(settings, "VALKYR", {}),
        "PAYLOAD_STORE": f"file://{folder}/payloads",
        "PAYLOAD_STORE_ABOVE": 4_096,
    }
    return folder / "payloads"


def answer(text: str = TEXT) -> dict[str, Any]:
    """What `http.request` returns, with this text."""
    return {
        "status": 200, "headers": {}, "body": {"id": text}, "bodyEncoding": "json", "url": "u",
        "durationMs": 1,
    }  # fmt: skip
