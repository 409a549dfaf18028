"""What revealing a dead letter shows: attributes by their names in the API."""

FIELDS = {"originalInputs": "original_inputs", "originalConfig": "original_config"}
