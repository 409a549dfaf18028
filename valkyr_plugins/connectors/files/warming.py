"""Loads what stores on the network need, once, before a worker forks."""


def warm_up() -> None:
    """Import s3fs and what it brings, about a second; it starts no thread yet."""
    import valkyr_plugins.connectors.files.s3.store  # noqa: F401
