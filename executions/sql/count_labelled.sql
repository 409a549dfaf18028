-- Count the executions with a label, up to `most`, in the order of the index label_newest.
SELECT count(*)
  FROM (SELECT 1 FROM executions_executionlabel AS l
         WHERE l.name = %(name)s AND l.value = %(value)s
         LIMIT %(most)s) AS found
