"""The blocks of a blueprint of Space Engineers 2, counted, with the names that the game gives to them.

    python blocks.py BLUEPRINT.vrb GAME
"""

from __future__ import annotations

import argparse
from collections import Counter

import assetq


def blocks(blueprint: assetq.Asset, game: assetq.Asset) -> Counter[str]:
    """How often each definition is named by a block."""
    names = {guid: name for guid, name in game["definitions"].columns("guid", "name")}
    values = blueprint["values"].where("path ~ 'Builders*.Definition'").columns("value")
    guids = (value.removeprefix("{G}") for (value,) in values)
    return Counter(names.get(guid, guid) for guid in guids)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("blueprint")
    arguments.add_argument("game")
    given = arguments.parse_args()
    for name, count in blocks(assetq.open(given.blueprint), assetq.open(given.game)).most_common():
        print(f"{count:6} {name}")


if __name__ == "__main__":
    main()
