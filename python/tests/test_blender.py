"""The Blender extension, in Blender: installed from its zip, into which a wheel is packed.

ASSETQ_BLENDER is a Python that has `bpy`, and ASSETQ_EXTENSION the zip. ASSETQ_SAMPLES is a folder with real files.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import assetq

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs/guide/blender.md"
BLENDER, EXTENSION, REAL = (os.environ.get(f"ASSETQ_{name}") for name in ("BLENDER", "EXTENSION", "SAMPLES"))
PLACE = {f"{part}_{axis}" for part in ("pos", "scale", "rot", "ext") for axis in "xyz"} | {"rot_w"}
pytestmark = pytest.mark.skipif(not (BLENDER and EXTENSION), reason="no Blender: set ASSETQ_BLENDER and ASSETQ_EXTENSION")


class Answer(NamedTuple):
    result: Any
    printed: str
    error: str | None


Run = Callable[[str], Answer]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of Blender's settings and extensions."""
    return tmp_path_factory.mktemp("blender")


@pytest.fixture(scope="session")
def blender(home: Path) -> Iterator[Run]:
    """Runs a script in a new file of Blender."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["BLENDER_USER_RESOURCES"] = str(home)
    command = [str(BLENDER), str(HERE / "in_blender.py"), str(EXTENSION)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=home) as process:
        assert process.stdin is not None and process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def run(script: str) -> Answer:
            stdin.write(json.dumps(script) + "\n")
            stdin.flush()
            for line in stdout:
                if line.startswith("{"):
                    answer = json.loads(line)
                    return Answer(answer["result"], answer["printed"], answer.get("error"))
            raise AssertionError("Blender has ended")

        yield run
        stdin.close()


def run_well(blender: Run, script: str) -> Answer:
    answer = blender(script)
    assert answer.error is None, f"{answer.error}\n{answer.printed}"
    return answer


@pytest.fixture
def ship(samples: Path, tmp_path: Path) -> Path:
    """A copy of the sample's ship and its hit boxes."""
    for name in ("ship.geometry", "ship.splash"):
        shutil.copy(samples / name, tmp_path)
    return tmp_path / "ship.geometry"


def test_the_zip_installs_with_its_wheel(blender: Run, home: Path) -> None:
    answer = run_well(
        blender,
        """
import assetq
files = bpy.types.FileHandler.bl_rna_get_subclass_py("ASSETQ_FH_files")
result = [assetq.__file__, files.bl_file_extensions, files.bl_import_operator, bpy.ops.export_scene.assetq.get_rna_type().name]
""",
    )
    assert Path(answer.result[0]).is_relative_to(home)
    assert answer.result[1:] == [".geometry;.wdata;.splash", "import_scene.assetq", "Export Geometry"]


def test_a_geometry_is_collections_of_meshes_armour_hulls_and_hit_boxes(blender: Run, ship: Path) -> None:
    answer = run_well(
        blender,
        f"""
bpy.ops.import_scene.assetq(filepath={str(ship)!r})
imported = bpy.data.collections["ship"]
layers = bpy.context.view_layer.layer_collection.children["ship"].children
result = {{
    "source": imported["assetq_source"],
    "meshes": {{c.name: [o.name for o in c.objects if o.type == "MESH"] for c in imported.children}},
    "locked": [c.name for c in imported.children if c.hide_select],
    "visible": [layer.name for layer in layers if not layer.hide_viewport],
    "armour": sorted(o.active_material.name for o in imported.children["ship armor"].objects if o.type == "MESH"),
    "vertices": sum(len(o.data.vertices) for o in meshes()),
    "scenes": len(bpy.data.scenes),
}}
""",
    )
    geometry, result = assetq.open(ship), answer.result
    assert result["source"] == str(ship) and result["scenes"] == 1
    assert result["visible"] == ["ship meshes"] and result["vertices"] > 0
    meshes = result["meshes"]
    levels = [name for name in meshes if name == "ship meshes" or name.startswith("ship lod")]
    assert sorted(name for level in levels for name in meshes[level]) == sorted(mesh.name for mesh in geometry.meshes())
    # The plates of a material have the colour of their thickness, if it is known.
    armor = {assetq.armor_material(int(number)) for number in geometry.armor()[0].material_ids}
    assert {name.split(" ", 1)[1] for name in result["armour"]} == armor
    assert len(meshes["ship hulls"]) > 0
    # What an export leaves out cannot be edited by mistake.
    assert sorted(result["locked"]) == ["hit boxes", "ship armor", "ship hulls"]
    assert len(meshes["hit boxes"]) == len(assetq.open(ship.with_suffix(".splash"))["boxes"])


def test_only_what_is_selected_is_imported(blender: Run, ship: Path) -> None:
    answer = run_well(
        blender,
        f"""
bpy.ops.import_scene.assetq(filepath={str(ship)!r}, all_levels=False, armor=False, collision=False, splash=False)
result = [c.name for c in bpy.data.collections["ship"].children]
""",
    )
    assert answer.result == ["ship meshes"]


def test_the_folder_of_the_settings_states_how_thick_armour_is(blender: Run, ship: Path, samples: Path) -> None:
    answer = run_well(
        blender,
        f"""
settings = bpy.context.preferences.addons["bl_ext.user_default.assetq"].preferences
settings.game = {str(samples / "wows")!r}
bpy.ops.import_scene.assetq(filepath={str(ship)!r})
settings.game = ""
""",
    )
    assert "armour is as thick as that of" in answer.printed


def test_an_unedited_geometry_keeps_its_bytes(blender: Run, ship: Path) -> None:
    before = ship.read_bytes()
    answer = run_well(blender, f"bpy.ops.import_scene.assetq(filepath={str(ship)!r})\nbpy.ops.export_scene.assetq()")
    assert ship.read_bytes() == before
    assert "ship.geometry: nothing has changed" in answer.printed
    assert sorted(path.name for path in ship.parent.iterdir()) == ["ship.geometry", "ship.splash"]


MOVED = """
bpy.ops.import_scene.assetq(filepath={path!r})
one = meshes()[0]
one.data.vertices[0].co.x += 0.25
one.name = one.data.name = "renamed"
result = [one.data["vertices"], one.data["indices"]]
"""


def test_an_edited_mesh_changes_its_group_alone_and_the_undo_patch_restores_it(blender: Run, ship: Path) -> None:
    check_edit(blender, ship)


def check_edit(blender: Run, path: Path) -> None:
    old = Path(shutil.copyfile(path, path.with_name("old.geometry")))
    answer = run_well(blender, MOVED.format(path=str(path)) + "bpy.ops.export_scene.assetq()")
    undo = path.with_suffix(".undo.ndjson")
    assert f"{path.name}: changed meshes: renamed; {undo.name} restores the old file" in answer.printed
    tables = ["vertex_mappings", "index_mappings", "armor_plates", "armor_models", "collision_models"]
    changes = {(change.table, change.key, change.change) for change in assetq.diff(old, path, tables=tables)}
    vertices, indices = answer.result
    assert ("vertex_mappings", vertices, "changed") in changes
    assert changes <= {("vertex_mappings", vertices, "changed"), ("index_mappings", indices, "changed")}
    assert assetq.open(path, mmap=False).verify().ok == assetq.open(old).verify().ok
    edited = assetq.open(path, mmap=False)
    edited.patch(undo)
    edited.write(path.with_name("restored.geometry"))
    assert path.with_name("restored.geometry").read_bytes() == old.read_bytes()


EDITS = {
    "a cube is joined": ("bpy.ops.mesh.primitive_cube_add()\njoin(bpy.context.active_object, meshes()[1])", "changed meshes: {mesh}"),
    "a face is deleted": ("bpy.context.view_layer.objects.active = one\ndelete_face(one)", "changed meshes: {mesh}"),
    "an object is moved": ("one.location.x += 0.5", "its object was moved"),
    "an object is scaled": ("one.scale = (1, 2, 1)", "its object was moved, turned or scaled"),
    "an object is deleted": ("bpy.data.objects.remove(one)", "not in Blender any more, but kept in the file: {mesh}"),
    "materials are swapped": ("one.data.materials.clear()\none.data.materials.append(bpy.data.materials.new('other'))", "nothing has changed"),
    "a camera is added": ("bpy.ops.object.camera_add(location=(1, 2, 3))", "nothing has changed"),
}
TOOLS = """
import bmesh
def join(one, other):
    with bpy.context.temp_override(active_object=other, selected_editable_objects=[one, other]):
        bpy.ops.object.join()
def delete_face(one):
    mesh = bmesh.new()
    mesh.from_mesh(one.data)
    mesh.faces.ensure_lookup_table()
    bmesh.ops.delete(mesh, geom=[mesh.faces[0]], context="FACES")
    mesh.to_mesh(one.data)
"""


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_is_written_or_named_and_can_be_undone(blender: Run, ship: Path, edit: str) -> None:
    before = ship.read_bytes()
    script, message = EDITS[edit]
    answer = run_well(
        blender,
        f"{TOOLS}bpy.ops.import_scene.assetq(filepath={str(ship)!r})\none = meshes()[0]\nresult = one.name\n{script}\nbpy.ops.export_scene.assetq()",
    )
    assert message.format(mesh=answer.result) in answer.printed
    undo = ship.with_name("ship.undo.ndjson")
    assert undo.exists() == (ship.read_bytes() != before)
    if undo.exists():
        edited = assetq.open(ship, mmap=False)
        edited.patch(undo)
        edited.write(ship.with_name("restored.geometry"))
        assert ship.with_name("restored.geometry").read_bytes() == before


def test_a_second_export_keeps_the_first_undo_patch(blender: Run, ship: Path) -> None:
    again = "bpy.ops.export_scene.assetq()\none.data.vertices[0].co.x += 1\nbpy.ops.export_scene.assetq()"
    run_well(blender, MOVED.format(path=str(ship)) + again)
    assert sorted(path.name for path in ship.parent.glob("*.ndjson")) == ["ship.undo.ndjson", "ship.undo2.ndjson"]


def test_another_path_leaves_the_imported_file_alone(blender: Run, ship: Path) -> None:
    before, new = ship.read_bytes(), ship.with_name("new.geometry")
    run_well(blender, MOVED.format(path=str(ship)) + f"bpy.ops.export_scene.assetq(filepath={str(new)!r})")
    assert ship.read_bytes() == before != new.read_bytes()
    assert ship.with_name("new.undo.ndjson").exists()


def test_what_is_not_exported_is_reported(blender: Run, ship: Path) -> None:
    script = "bpy.ops.mesh.primitive_cube_add()\nbpy.context.view_layer.objects.active = meshes()[1]\nbpy.ops.export_scene.assetq()"
    answer = run_well(blender, f"bpy.ops.import_scene.assetq(filepath={str(ship)!r})\n{script}")
    assert re.search(r'Warning: .*"Cube" is left out', answer.printed)


def test_boxes_of_a_map_are_empties_with_their_fields(blender: Run, samples: Path, tmp_path: Path) -> None:
    town = assetq.open(samples / "town.wdata")
    (tmp_path / "town.glb").write_bytes(town.glb())
    corners = "[[round(v, 1) for v in one.matrix_world @ Vector(corner)] for corner in product((-1, 1), repeat=3)]"
    answer = run_well(
        blender,
        f"""
from itertools import product
from mathutils import Vector
bpy.ops.import_scene.assetq(filepath={str(samples / "town.wdata")!r})
boxes = {{c.name: list(c.objects) for c in bpy.data.collections["town"].children}}
assert all(one.type == "EMPTY" and one.empty_display_type == "CUBE" for ones in boxes.values() for one in ones)
bpy.context.view_layer.update()
result = {{"fields": {{name: [[one.name, {{key: one[key] for key in one.keys()}}] for one in ones] for name, ones in boxes.items()}}}}
result["places"] = [sorted({corners}) for ones in boxes.values() for one in ones]
for one in list(bpy.data.objects):
    bpy.data.objects.remove(one)
bpy.ops.import_scene.gltf(filepath={str(tmp_path / "town.glb")!r})
bpy.context.view_layer.update()
result["of_glb"] = [sorted({corners}) for one in bpy.data.objects if one.type == "MESH" and "links" not in one.name]
""",
    )
    fields = answer.result["fields"]
    tables = [name for name in town if name != "event_boxes" and PLACE <= set(town[name].column_names) and len(town[name])]
    assert list(fields) == tables and "portal_boxes" in tables
    for name in tables:
        rows = list(town[name].dicts())
        assert [box for box, _ in fields[name]] == [row["name"] for row in rows]
        for (_, properties), row in zip(fields[name], rows):
            row = {key: value for key, value in row.items() if key not in PLACE | {"name", "offset"} and value is not None}
            assert properties.keys() == row.keys()
            for key, value in row.items():
                nested = isinstance(value, (list, dict))
                assert (json.loads(properties[key]) if nested else properties[key]) == (pytest.approx(value) if not nested else value)
    # Blender's own importer puts the boxes of the GLB into the same places.
    places, of_glb = (np.sort(np.array(answer.result[name]).reshape(-1, 24), axis=0) for name in ("places", "of_glb"))
    assert places.shape == of_glb.shape and np.abs(places - of_glb).max() < 0.3


def test_hit_boxes_are_meshes_with_their_names(blender: Run, samples: Path) -> None:
    script = f"""
bpy.ops.import_scene.assetq(filepath={str(samples / "ship.splash")!r})
result = sorted(one.name for one in meshes())
"""
    answer = run_well(blender, script)
    assert answer.result == sorted(row["name"] for row in assetq.open(samples / "ship.splash")["boxes"].dicts())


def test_several_files_are_imported_at_once_and_each_failure_is_reported(blender: Run, samples: Path, tmp_path: Path) -> None:
    shutil.copy(samples / "town.wdata", tmp_path)
    shutil.copy(samples / "ship.splash", tmp_path)
    (tmp_path / "broken.geometry").write_bytes(b"no geometry")
    (tmp_path / "broken.wdata").write_bytes(b"no map")
    files = [{"name": path.name} for path in sorted(tmp_path.iterdir())]
    answer = blender(f"bpy.ops.import_scene.assetq(directory={str(tmp_path)!r}, files={files!r})")
    assert answer.error is not None and "broken.geometry" in answer.error and "broken.wdata" in answer.error
    assert "2 of 4 files imported" in answer.printed
    left = run_well(blender, "result = [c.name for c in bpy.data.collections]")
    assert left.result == []


def test_an_export_without_an_import_is_an_error(blender: Run) -> None:
    answer = blender("bpy.ops.mesh.primitive_cube_add()\nbpy.ops.export_scene.assetq(filepath='x.geometry')")
    assert answer.error is not None and "nothing in this file was imported from a .geometry" in answer.error


def test_two_imports_are_told_apart_by_the_active_object(blender: Run, ship: Path) -> None:
    other = Path(shutil.copy(ship, ship.with_name("other.geometry")))
    both = "".join(f"bpy.ops.import_scene.assetq(filepath={str(path)!r})\n" for path in (ship, other))
    none = both + "bpy.context.view_layer.objects.active = None\nbpy.ops.export_scene.assetq()"
    assert "select an object of the file to export: there are other, ship" in (blender(none).error or "")
    first = both + "bpy.context.view_layer.objects.active = bpy.data.collections['ship'].all_objects[0]\nbpy.ops.export_scene.assetq()"
    assert "ship.geometry: nothing has changed" in run_well(blender, first).printed


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_of_the_guide_runs(blender: Run, samples: Path, tmp_path: Path) -> None:
    for path in samples.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    script = "\n".join(blocks())
    assert "export_scene.assetq" in script
    answer = run_well(blender, f"import os\nos.chdir({str(tmp_path)!r})\n{script}")
    for message in re.findall(r"^Info: (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        assert message in answer.printed


def real(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted(Path(REAL or ".", folder).rglob("*.geometry"))] if REAL else []
    # This one is all zero.
    return [path for path in found if path.name != "Exterior.models.geometry"]


def copied(path: Path, tmp_path: Path) -> Path:
    """A copy of a file, with all files of its folder."""
    folder = shutil.copytree(path.parent, tmp_path / "copy", copy_function=shutil.copyfile) if "mods" in path.parts else tmp_path
    return folder / path.name if folder != tmp_path else Path(shutil.copyfile(path, tmp_path / path.name))


def test_a_gun_of_a_mod_is_edited(blender: Run, tmp_path: Path) -> None:
    if not REAL:
        pytest.skip("no real files: set ASSETQ_SAMPLES")
    (gun,) = real("mods/colossus/gun")
    gun = copied(gun, tmp_path)
    answer = run_well(
        blender,
        f"""
bpy.ops.import_scene.assetq(filepath={str(gun)!r})
imported = bpy.data.collections[0]
result = [[one.name for one in meshes()], sorted(o.name for o in imported.children[0].objects if o.name.startswith("HP_")),
          [c.name for c in imported.children if " lod" in c.name], len([i for i in bpy.data.images if i.size[0] > 0 and i.packed_file])]
""",
    )
    names, hard_points, levels, images = answer.result
    assert names == ["TurretShape", "Turret_wireShape", "shieldShape"]
    assert hard_points == ["HP_gunFire1", "HP_gunFire2", "HP_gunFire3", "HP_gunFire4"]
    assert len(levels) == 3 and images == 4
    check_edit(blender, gun)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in real("geometry", "mods")])
def test_a_real_geometry_comes_back(blender: Run, tmp_path: Path, path: Path) -> None:
    """Byte for byte: with all levels, armour, hulls and hit boxes in Blender."""
    copy = copied(path, tmp_path)
    answer = run_well(blender, f"bpy.ops.import_scene.assetq(filepath={str(copy)!r})\nbpy.ops.export_scene.assetq()")
    assert copy.read_bytes() == path.read_bytes(), answer.printed
