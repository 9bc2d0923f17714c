"""What exchanges and compare-and-swap do: the loops around them, the functions they are handed, what they store."""
