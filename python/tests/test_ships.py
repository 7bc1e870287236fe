"""Ships of a game's folder: plates in millimetres, titles, and values as CPython's own pickle reads them."""

import io
import json
import pickle
import struct
import zlib
from pathlib import Path
from typing import Any

import assetq

HULL = "content/gameplay/usa/ship/battleship/ASB900/ASB900.geometry"
BELT = "material_id = 61 and index = 14"
THICK = [
    ("PASB900_Nowhere", "A_Hull", 287.0),
    ("PASB900_Nowhere", "B_Hull", 307.0),
    ("PASB901_Somewhere", "A_Hull", 307.0),
    ("PASB901_Somewhere", "B_Hull", 327.0),
]


def rows(table: assetq.Table) -> list[tuple[Any, ...]]:
    return [(row["ship"], row["component"], row["thickness"]) for row in table.dicts()]


def test_plates_in_a_game_have_millimetres(samples: Path) -> None:
    game = assetq.open(samples / "wows")
    plates = game.open(HULL)["armor_plates"]
    assert rows(plates.where(BELT)) == THICK
    # 0 mm is stated, and a plate that no entry describes has none.
    thin = {row["thickness"] for row in plates.where("material_id = 64 and layer = 2").dicts()}
    assert thin == {0.0}
    assert all(row["thickness"] is None for row in plates.where("material_id = 36").dicts())


def test_parameters_are_given_for_a_file_by_itself(samples: Path, tmp_path: Path) -> None:
    path = tmp_path / "ASB900.geometry"
    path.write_bytes(assetq.open(samples / "wows").read(HULL))
    assert rows(assetq.open(path)["armor_plates"].where(BELT)) == [(None, None, None)]
    known = assetq.open(path, names=[samples / "GameParams.data"])
    assert rows(known["armor_plates"].where(BELT)) == THICK
    # The scene has the colours of the game's own view, by the thickness on the first ship.
    glb = known.glb(parts=["armor"])
    (size,) = struct.unpack_from("<I", glb, 12)
    materials = {material["name"] for material in json.loads(glb[20 : 20 + size])["materials"]}
    assert {"0-14 mm", "160-399 mm", "thickness not stated"} <= materials


def test_titles_and_armour_are_joined_in_sql(samples: Path) -> None:
    params = assetq.open(f"{samples / 'wows'}:content/GameParams.data")
    answer = params.sql(
        "SELECT s.title, max(a.thickness) AS thickest FROM armor a JOIN ships s ON s.name = a.ship "
        "WHERE a.component = 'B_Hull' GROUP BY 1 ORDER BY 1"
    )
    assert list(answer.dicts()) == [{"title": "Nowhere", "thickest": 440.0}, {"title": "Somewhere", "thickest": 440.0}]
    assert params.cat("PASB900")["name"] == "PASB900_Nowhere"


def test_plates_changed_between_two_builds(samples: Path) -> None:
    old, new = (assetq.open(f"{samples / game}:content/GameParams.data") for game in ("wows@7000000", "wows"))
    changed = {(c.key["ship"], c.key["component"]): (c.old, c.new) for c in assetq.diff(old, new, tables=["armor"])}
    assert changed[("PASB900_Nowhere", "B_Hull")] == ({"thickness": 305.0}, {"thickness": 307.0})
    assert len(changed) == 4, "the belt of two ships with two hulls each"


class Unpickler(pickle.Unpickler):
    """Reads the objects of the game as plain ones."""

    def find_class(self, module: str, name: str) -> Any:
        if name == "_reconstructor":
            return lambda kind, base, state: kind()
        return object if name == "object" else type(name, (), {})


def leaves(path: str, value: Any) -> list[tuple[str, Any]]:
    """The leaves below a value with their paths."""
    if hasattr(value, "__dict__"):
        value = vars(value)
    if isinstance(value, dict):
        steps = [(f".{key}" if isinstance(key, str) else f"[{key}]", inner) for key, inner in value.items()]
        return [leaf for step, inner in steps for leaf in leaves(path + step, inner)] or [(path, {})]
    if isinstance(value, (list, tuple)):
        return [leaf for n, inner in enumerate(value) for leaf in leaves(f"{path}[{n}]", inner)] or [(path, [])]
    return [(path, value)]


def test_fields_are_what_pickle_reads(samples: Path) -> None:
    data = (samples / "GameParams.data").read_bytes()
    (root,) = Unpickler(io.BytesIO(zlib.decompress(data[::-1])), encoding="utf-8").load()
    expected = [(name, path[1:], leaf) for name, entity in root[""].items() for path, leaf in leaves("", entity)]
    fields = assetq.open(samples / "GameParams.data")["fields"].dicts()
    found = [(row["entity"], row["path"], row["kind"], row["value"]) for row in fields]
    assert len(found) == len(expected) > 200
    for (entity, path, kind, value), (name, place, leaf) in zip(found, expected):
        assert (entity, path) == (name, place)
        if kind in ("int", "float"):
            assert float(value) == leaf, (entity, path)
        elif kind == "bool":
            assert str(value).lower() == str(leaf).lower()
        elif kind == "text":
            assert value == leaf
        else:
            assert not leaf, (entity, path, kind)
