"""Dead letters: permanently failed runs that users fix and requeue."""
