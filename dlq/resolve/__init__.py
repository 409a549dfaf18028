"""What ends a dead letter: requeue, fix, skip, discard, roll back."""
