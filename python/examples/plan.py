"""A map of Rusty Hearts from above: the boxes of each type where they stand.

    python plan.py TOWN.wdata OUT.png
"""

from __future__ import annotations

import argparse

import numpy as np

import assetq


def places(town: assetq.Asset) -> dict[str, np.ndarray]:
    """A row of two numbers for each box, by type: seen from above, so without the height."""
    boxes = town["event_boxes"]
    types = [name for (name,) in boxes.columns("type_name")]
    rows = np.column_stack([boxes.numpy("pos_x"), boxes.numpy("pos_z")])
    return {name: rows[[other == name for other in types]] for name in dict.fromkeys(types)}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("town")
    arguments.add_argument("out")
    given = arguments.parse_args()
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    town = assetq.open(given.town)
    for name, rows in places(town).items():
        pyplot.scatter(rows[:, 0], rows[:, 1], s=8, label=f"{name} ({len(rows)})")
    pyplot.gca().set_aspect("equal")
    pyplot.legend(fontsize=6)
    pyplot.savefig(given.out, dpi=150)


if __name__ == "__main__":
    main()
