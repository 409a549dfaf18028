-- Set the seed of `random()` in this session.
SELECT setseed(%(seed)s)
