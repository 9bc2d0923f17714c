"""The commands that run the user's program: ``trace`` (``stages``) and ``study``."""
