"""Alerts: notify users once of each problem, and track the delivery."""
