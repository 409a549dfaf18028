"""`make up`, its pure parts."""
