"""Marks on events: draws whose numbers decide nothing, items whose order does not count."""
