"""The operations that resolve a dead letter: requeue, fix, skip, discard, and roll back."""
