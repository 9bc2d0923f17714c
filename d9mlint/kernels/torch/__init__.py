"""From a site to the functions of PyTorch extensions and of PyTorch."""
