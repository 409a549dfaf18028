"""What the live monitor draws: the graph of a version, placed on a plane."""
