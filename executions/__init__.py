"""Something asks for an execution; it is admitted, planned and ends: the truth in rows."""
