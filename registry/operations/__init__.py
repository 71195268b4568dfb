"""Operations on what is stored, one subject a module: SQL for the API, pages and commands, never a commit."""
