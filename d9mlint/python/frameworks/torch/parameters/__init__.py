"""The parameters of networks of PyTorch: which are frozen, loaded or left as drawn, and where gradients end."""
