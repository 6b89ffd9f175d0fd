SELECT role FROM unnest($1::text[]) role JOIN pg_roles ON rolname = role WHERE pg_has_role(session_user, role, 'SET')
