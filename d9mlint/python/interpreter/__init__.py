"""The abstract interpreter: runs facts on abstract values. It knows Python and not one framework."""
