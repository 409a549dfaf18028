"""The sweeper, which repairs lost work, and the repair of a database that was restored."""
