"""Records what a program does, inside the process that runs it; d9mlint need not be installed there.

The folder is all that the other interpreter sees: nothing in it may import from the rest of d9mlint, or use what Python
3.8 does not have. It imports no framework by itself: what the program imports is hooked after its import.
"""
