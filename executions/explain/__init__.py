"""Explain the state of an execution, such as why it waits, from its row and queue position."""
