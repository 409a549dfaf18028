"""Commands of second factors."""
