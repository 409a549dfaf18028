"""What steps cost: entries, counters of what is limited, sums."""
