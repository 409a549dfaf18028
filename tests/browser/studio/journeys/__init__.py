"""What a person does in the studio from beginning to end, on a whole stack."""
