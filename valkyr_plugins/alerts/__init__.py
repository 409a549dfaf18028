"""Alerts: notify users of each problem at most once per interval, and track the delivery."""
