"""What may stand in the files of the catalogue: YAML to the nouns of the model, every value checked, a module a kind.

``nodes`` and ``vocabulary`` are what the others read with. All of them import yaml, which a warm start does without.
"""
