"""Ships by their armour: how much of it is how thick.

    python armour.py GAME [--glob 'content/gameplay/*.geometry'] [--thickness FILE.csv] [--plot OUT.png]

A `.geometry` has the plates of a ship, each with a material and a layer, but not how thick they are: the game keeps that
elsewhere. Give it as a table of `material,layer,mm`, where the material is a name or a number; without one, ships are
shown by the area of each layer.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from fnmatch import fnmatch

import numpy as np

import assetq


def areas(model: assetq.ArmorModel) -> dict[tuple[int, int], float]:
    """The area of all triangles of each material and layer."""
    a, b, c = model.triangles.astype(float).transpose(1, 0, 2)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    found: dict[tuple[int, int], float] = defaultdict(float)
    for key, square in zip(zip(model.material_ids.tolist(), model.layers.tolist()), area.tolist()):
        found[key] += square
    return found


def thickness(file: str) -> dict[tuple[str, int], float]:
    """Millimetres by material and layer."""
    with open(file, newline="") as lines:
        return {(row["material"], int(row["layer"])): float(row["mm"]) for row in csv.DictReader(lines)}


def ships(game: assetq.Asset, glob: str, table: dict[tuple[str, int], float] | None) -> dict[str, dict[str, float]]:
    """For each ship the area of its armour by thickness, or by layer."""
    found: dict[str, dict[str, float]] = {}
    for file in game["files"].columns("path", "installed").where("path ~ '*.geometry'").dicts():
        if not (file["installed"] and fnmatch(file["path"], glob)):
            continue
        of_ship: dict[str, float] = defaultdict(float)
        for model in game.open(file["path"]).armor():
            for (material, layer), area in areas(model).items():
                if table is None:
                    of_ship[f"layer {layer}"] += area
                    continue
                name = assetq.armor_material(material) or ""
                mm = table.get((name, layer), table.get((str(material), layer)))
                of_ship["not in the table" if mm is None else f"{mm:g} mm"] += area
        if of_ship:
            found[file["path"]] = of_ship
    return found


def plot(found: dict[str, dict[str, float]], out: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = [path.rsplit("/", 1)[-1] for path in found]
    left = np.zeros(len(names))
    for band in sorted({band for bands in found.values() for band in bands}):
        width = np.array([bands.get(band, 0.0) for bands in found.values()])
        pyplot.barh(names, width, left=left, label=band)
        left += width
    pyplot.xlabel("area of armour, square units of the game")
    pyplot.legend()
    pyplot.tight_layout()
    pyplot.savefig(out)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("game")
    arguments.add_argument("--glob", default="content/gameplay/*.geometry")
    arguments.add_argument("--thickness")
    arguments.add_argument("--plot")
    given = arguments.parse_args()
    table = thickness(given.thickness) if given.thickness else None
    found = ships(assetq.open(given.game), given.glob, table)
    for path, bands in sorted(found.items(), key=lambda ship: -sum(ship[1].values())):
        shown = ", ".join(f"{band}: {area:.1f}" for band, area in sorted(bands.items()))
        print(f"{path}\n    {shown}")
    if given.plot:
        plot(found, given.plot)


if __name__ == "__main__":
    main()
