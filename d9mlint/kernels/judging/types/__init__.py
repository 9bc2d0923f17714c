"""Which types expressions and template parameters have: declarations, aliases, instantiations, dispatch macros."""
