"""Reading: masked and parsed sources, the files of a checkout, what mentions what."""
