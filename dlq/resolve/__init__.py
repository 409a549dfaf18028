"""The operations that resolve a dead letter: requeue, fix, skip, discard, roll back."""
