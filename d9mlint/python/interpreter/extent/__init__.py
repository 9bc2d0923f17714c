"""How far a program is interpreted: the bounds of it, what was reached, and what may be called all the same."""
