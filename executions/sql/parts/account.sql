u.id, u.password, u.last_login, u.is_superuser, u.username, u.first_name, u.last_name, u.email,
u.is_staff, u.is_active, u.date_joined
