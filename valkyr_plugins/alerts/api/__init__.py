"""The API of alert rules, alerts and their messages."""
