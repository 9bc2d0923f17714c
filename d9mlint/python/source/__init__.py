"""Python sources as facts: the intermediate representation that everything else reads."""
