"""What steps cost, and budgets of it: entries, counters, who is told, who is refused or stopped."""
