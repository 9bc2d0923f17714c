"""Every atomic operation, found to a fixpoint through wrappers and macros."""
