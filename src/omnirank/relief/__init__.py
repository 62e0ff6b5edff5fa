"""What Relief accumulates over pairs of neighbours: target distances, pair weights, sums."""
