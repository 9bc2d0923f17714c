"""Rules, ops and effects: read from YAML, checked, compiled, and told to the user."""

from d9mlint.catalogue.load import Catalogue, load, load_from, read_examples

__all__ = ["Catalogue", "load", "load_from", "read_examples"]
