"""A package for each lab, `NN_name`, with a module for each topic: programs that run on both frameworks, and their cases."""
