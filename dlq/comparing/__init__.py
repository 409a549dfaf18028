"""What is otherwise this time: two JSON values by path, and what a failed step is held against."""
