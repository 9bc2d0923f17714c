"""What is recorded of programs that compute with PyTorch."""
