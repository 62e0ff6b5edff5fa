"""What comes in: typed tables, targets, hierarchies, data sets, readers, writers, samples, generators."""
