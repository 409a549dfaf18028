"""The Celery app with other settings, in a process that has already used it.

The chaos brokers import this module before Django is set up.
"""

from typing import Any

from kombu import pools


def reconfigure(app: Any, changes: dict[str, Any]) -> None:
    """Change settings, and reset what the app derived from the previous ones."""
    # Pools are cached by address: a closed one would be found again on the way back.
    pools.reset()
    app.conf.update(changes)
    # Celery keeps connections and its backend for the process's lifetime; a forked child resets
    # them in this way.
    app._after_fork()
    app._backend_cache = None
    app._local.__dict__.pop("backend", None)
