"""From codes to a weighted graph, its eigenvectors and the labels of its vertices."""
