"""The settings of a read replica."""
