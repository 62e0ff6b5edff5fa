"""How good a ranking is: measures, protocols, statistics and experiments."""
