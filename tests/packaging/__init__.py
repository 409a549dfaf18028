"""The distribution `valkyr`: its contents, its requirements, and its installation."""
