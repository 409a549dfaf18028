"""The operations on dead letters: requeue, fix, skip, discard, restore, annotate and pin them."""
