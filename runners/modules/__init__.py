"""What steps do: one module family a file; nothing here knows tables or broker."""
