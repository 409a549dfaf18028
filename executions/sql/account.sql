-- An account by its id, with all columns of Django's model in its order.
SELECT
--+ account
  FROM auth_user u
 WHERE u.id = %(id)s
