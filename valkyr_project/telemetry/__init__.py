"""What a running installation tells of itself: log lines and traces (docs/observability.md)."""
