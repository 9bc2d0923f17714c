"""What is recorded of programs that use TensorFlow and Keras."""
