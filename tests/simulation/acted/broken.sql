-- What the trigger saw that must never be.
SELECT what FROM simulation_broken ORDER BY id
