"""The order of the gallery: first how it works, then data of many kinds, then questions."""

from __future__ import annotations

ORDER = [
    "plot_how_it_works",
    "plot_affinity",
    "plot_turntable",
    "plot_faces_under_light",
    "plot_digits_scattering",
    "plot_text",
    "plot_debian_packages",
    "plot_table_with_units",
    "plot_cell_nuclei",
    "plot_trefoil_knots",
    "plot_few_labels",
    "plot_weights",
    "plot_how_many_clusters",
    "plot_gamma_and_k",
    "plot_outliers",
    "plot_clusters_within_clusters",
    "plot_own_graph_and_updates",
    "plot_million_points_dask",
    "plot_when_not_to_use",
]


class InOrder:
    """Sorts as listed; examples that are not listed come last, by name."""

    def __init__(self, folder: str) -> None: ...

    def __call__(self, name: str) -> tuple[int, str]:
        stem = name.removesuffix(".py")
        return (ORDER.index(stem) if stem in ORDER else len(ORDER)), stem
