"""Rankings: the result of every method, its files, how it is merged, how certain it is, how it compares."""
