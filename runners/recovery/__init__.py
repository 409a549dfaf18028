"""The sweeper, which repairs lost work, and the steps after a backup is restored."""
