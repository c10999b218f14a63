"""Facts about clusters: confidence, outliers, explanations, new points."""
