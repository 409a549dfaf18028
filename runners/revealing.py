"""What revealing a run shows: attributes by their names in the API."""

FIELDS = {name: name for name in ("inputs", "outputs", "overrides", "wake", "logs")}
