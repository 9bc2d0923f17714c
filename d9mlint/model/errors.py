"""Errors that end a run with exit code 2; every text names the file (and line or key) that is wrong."""


class D9mlintError(Exception):
    """Base of the errors that d9mlint itself raises on purpose."""


class UsageError(D9mlintError):
    """The command line cannot be carried out (path not found, nothing to check, unknown rule name)."""


class ConfigError(D9mlintError):
    """A configuration file is broken; the text names file and key."""


class CatalogueError(D9mlintError):
    """A rule, effect or op file is broken; the text names file:line."""
