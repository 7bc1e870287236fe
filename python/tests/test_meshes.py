"""Meshes, armour and drawings."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import plain
import pytest

import assetq


def test_meshes_are_the_rows_of_the_tables(samples: Path) -> None:
    ship = assetq.open(samples / "ship.geometry")
    meshes, groups = ship.meshes(), list(ship["render_groups"].dicts())
    assert [mesh.name for mesh in meshes] == [group["name"] for group in groups]
    vertices = list(ship["vertices"].columns("buffer", "x", "y", "z", "u", "v").dicts())
    mappings = list(ship["vertex_mappings"].dicts())
    for mesh, group in zip(meshes, groups):
        positions, uvs, triangles = mesh.positions, mesh.uvs, mesh.triangles
        assert positions is not None and positions.dtype == np.float32
        assert positions.shape == (group["vertices"], 3) and triangles.shape == (group["triangles"], 3)
        assert mesh.indices.reshape(-1, 3).tolist() == triangles.tolist()
        assert triangles.max() < len(positions)
        mapping = mappings[group["vertex_mapping"]]
        of_buffer = [row for row in vertices if row["buffer"] == mapping["buffer"]]
        rows = of_buffer[mapping["start"] :][: mapping["count"]]
        assert positions.tolist() == [[row["x"], row["y"], row["z"]] for row in rows]
        if uvs is not None:
            assert uvs.tolist() == [[row["u"], row["v"]] for row in rows]
        normals = mesh.normals
        if normals is not None:
            assert np.allclose(np.linalg.norm(normals, axis=1), 1, atol=0.02)


def test_a_database_names_the_meshes(samples: Path, tmp_path: Path) -> None:
    db = assetq.open(samples / "assets.bin")
    visual = next(row for row in db["visuals"].dicts() if row["geometry_path"])
    sets = [row for row in db["render_sets"].dicts() if row["path"] == visual["path"]]
    # The geometry of the sample gets the mappings that the visual draws.
    data = bytearray((samples / "ship.geometry").read_bytes())
    for n, row in enumerate(sets):
        for start, name in ((0x48, "vertices_name_id"), (0x98, "indices_name_id")):
            struct.pack_into("<I", data, start + 16 * n, int(row[name], 16))
    path = tmp_path / visual["geometry_path"]
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    ship = assetq.open(path)
    assert "render set" not in {mesh.pairing for mesh in ship.meshes()}
    named = ship.meshes(db)
    assert {mesh.pairing for mesh in named} == {"render set"} and all(mesh.model for mesh in named)
    assert [(mesh.name, mesh.material) for mesh in named] == [(row["name"], row["material_name"]) for row in sets]
    with pytest.raises(assetq.Error) as raised:
        assetq.open(samples / "ship.geometry").meshes(samples / "ship.splash")
    assert raised.value.kind == "unsupported"


def test_a_database_that_does_not_draw_the_geometry_is_a_warning(samples: Path) -> None:
    ship, note = assetq.open(samples / "ship.geometry"), "no visual of the database draws .*ship.geometry; its meshes have no names"
    with pytest.warns(UserWarning, match=note):
        meshes = ship.meshes(samples / "assets.bin")
    assert [mesh.name for mesh in meshes] == [mesh.name for mesh in ship.meshes()] != []
    with pytest.warns(UserWarning, match=note):
        glb = ship.glb(samples / "assets.bin")
    assert glb == ship.glb()


def test_armour_is_what_a_plain_reader_finds(samples: Path) -> None:
    (armor,) = assetq.open(samples / "ship.geometry").armor()
    plates = plain.plates(samples / "ship.geometry")
    expected = [corner for plate in plates for corner in plate.corners]
    assert armor.triangles.shape == (len(expected) // 3, 3, 3)
    assert armor.triangles.reshape(-1, 3).tolist() == [list(corner) for corner in expected]
    assert armor.material_ids.tolist() == [plate.material for plate in plates for _ in range(len(plate.corners) // 3)]
    assert armor.layers.tolist() == [plate.layer for plate in plates for _ in range(len(plate.corners) // 3)]
    assert sorted(set(armor.plates.tolist())) == list(range(len(plates)))
    assert armor.normals.shape == armor.triangles.shape
    assert assetq.armor_material(12) == "Bottom" and assetq.armor_material(255) is None


def test_glb_is_a_scene_of_what_was_asked_for(samples: Path) -> None:
    ship = assetq.open(samples / "ship.geometry")
    whole, armor = plain.glb_json(ship.glb(parts=["meshes", "armor"])), plain.glb_json(ship.glb(parts=["armor"]))
    assert len(whole["meshes"]) > len(armor["meshes"]) > 0  # type: ignore[arg-type]
    assert plain.glb_json(assetq.open(samples / "town.wdata").glb())["meshes"]
    with pytest.raises(assetq.Error) as raised:
        ship.glb(parts=["guns"])
    assert raised.value.kind == "syntax"
    with pytest.raises(assetq.Error) as raised:
        assetq.open(samples / "sheet.wdb").glb()
    assert raised.value.kind == "unsupported"
