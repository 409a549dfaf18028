"""What imports from other programs leave for people to finish."""
