-- From now on `random()` of this session is drawn.
SELECT setseed(%(seed)s)
