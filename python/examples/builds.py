"""Two builds compared: how many rows of each table and type came, went and changed, and what changed.

    python builds.py OLD NEW
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import assetq


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("old")
    arguments.add_argument("new")
    given = arguments.parse_args()
    found = assetq.diff(given.old, given.new)
    for (table, kind), count in sorted(Counter((change.table, change.change) for change in found).items()):
        print(f"{table}: {count} {kind}")
    for change in found:
        if change.change == "changed" and change.old is not None and change.new is not None:
            fields = (f"{name}: {was} -> {change.new[name]}" for name, was in change.old.items())
            print(f"  {change.key}: {'; '.join(fields)}")
    for error in found.damage:
        print(f"damaged: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
