"""What the window does with models: the form that makes one, the files that hold one, the weights that ship."""
