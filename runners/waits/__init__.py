"""The causes that wake waiting steps: timers, approvals, events, signals and callbacks."""
