"""The connection pool, and the settings of a read replica."""
