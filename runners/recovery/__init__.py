"""The sweeper, which repairs what was lost, and what follows a restored backup."""
