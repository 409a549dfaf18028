"""Fork, restore points, roll back, replay and verify."""
