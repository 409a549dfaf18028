"""What can hold for a while and is looked for again and again: one condition a file.

Each gives, for one rule, what holds now; whatever was open and is not among it is over.
"""
