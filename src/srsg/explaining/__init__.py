"""What is known about clusters: confidence, outliers, explanations, new points."""
