"""One file per lab, `NN_name.py`: the programs that run on both frameworks, and the cases to run them on."""
