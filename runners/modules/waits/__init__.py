"""Modules that wait without holding a worker: for a time, a person, an event, an answer."""
