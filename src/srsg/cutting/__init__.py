"""From a graph to clusters: weights of edges, eigenvectors, K-means."""
