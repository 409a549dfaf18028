"""What ended in each hour, counted and kept; charts, pages and an endpoint that read it."""
