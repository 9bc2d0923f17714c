"""Questions to an interpreted program, and what becomes of the answers: findings, in words."""
