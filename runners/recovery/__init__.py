"""The sweeper, which repairs lost work, and the steps after restoring a backup."""
