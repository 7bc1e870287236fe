# SPDX-FileCopyrightText: 2026 the authors of assetq
# SPDX-License-Identifier: GPL-3.0-or-later
"""Import .geometry, .wdata and .splash files, and export edited meshes into the .geometry that they came from.

Meshes go through GLB files that the command assetq of the bundled wheel writes and reads, and through Blender's own glTF add-on.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper
from mathutils import Matrix, Quaternion, Vector

SUFFIXES = (".geometry", ".wdata", ".splash")
#: The custom properties of a collection: the path of the file from which it was imported, and the ids of its meshes by name, as JSON.
SOURCE, MESHES = "assetq_source", "assetq_meshes"
PLACE = [f"{part}_{axis}" for part in ("pos", "scale", "rot", "ext") for axis in "xyz"] + ["rot_w"]
#: Tables of a geometry whose rows follow from its meshes.
OF_MESHES = {"vertex_mappings", "index_mappings", "vertex_buffers", "index_buffers", "render_groups"}


class Failure(Exception):
    """A message to the user."""


def program() -> Path:
    """The command assetq of the wheel."""
    import assetq

    name = "assetq.exe" if os.name == "nt" else "assetq"
    # Blender leaves the scripts of a wheel in this folder, and does not make them executable. pip installs them.
    unpacked = Path(assetq.__file__).parents[1] / f"assetq-{assetq.__version__}.data" / "scripts" / name
    installed = Path(sysconfig.get_path("scripts")) / name
    for path in (unpacked, installed):
        if path.is_file():
            if not os.access(path, os.X_OK):
                path.chmod(path.stat().st_mode | 0o111)
            return path
    raise Failure(f"the wheel of assetq has no command: {unpacked} is missing. Install the extension again")


def run(*arguments: object) -> tuple[int, str, list[str]]:
    """Runs the command. Returns its exit code, its output, and its messages."""
    command = [str(part) for part in (program(), "--color", "never", *arguments)]
    flags = subprocess.CREATE_NO_WINDOW if os.name == "nt" else 0
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, creationflags=flags)
    out, messages = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
    return done.returncode, out, [line.removeprefix("assetq: ") for line in messages.splitlines()]


@contextmanager
def progress(context: Any, steps: int) -> Iterator[Callable[[int], None]]:
    """Shows at the pointer how many of the steps are done."""
    manager = context.window_manager
    manager.progress_begin(0, max(steps, 1))
    try:
        yield manager.progress_update
    finally:
        manager.progress_end()


def collection_of(path: Path, context: Any) -> Any:
    """A new collection for what is imported from a file."""
    collection = bpy.data.collections.new(path.stem)
    collection[SOURCE] = str(path)
    context.scene.collection.children.link(collection)
    return collection


def add_child(parent: Any, name: str) -> Any:
    child = bpy.data.collections.new(name)
    parent.children.link(child)
    return child


def layers_of(collection: Any, context: Any) -> list[Any]:
    """The collections in an imported one, as the view layer shows them."""
    return list(context.view_layer.layer_collection.children[collection.name].children)


def ids_of(objects: Iterable[Any]) -> dict[str, str]:
    """The ids that meshes have in a .geometry, by the names of their objects."""
    meshes = (one for one in objects if one.type == "MESH" and isinstance(one.data.get("vertices"), str))
    return {one.name: f"{one.data['vertices']} {one.data['indices']}" for one in meshes}


def import_shapes(path: Path, context: Any, options: list[str]) -> list[str]:
    """Imports a .geometry or .splash: a collection for each level of detail, for armour, hulls and hit boxes. Returns notes."""
    before = set(bpy.data.objects), set(bpy.data.collections), set(bpy.data.scenes)
    with tempfile.TemporaryDirectory() as folder:
        glb = Path(folder) / "shapes.glb"
        code, _, messages = run("export", path, "--to", glb, *options)
        if not glb.is_file():
            raise Failure("\n".join(messages) or f"{path}: assetq ended with exit code {code}")
        bpy.ops.import_scene.gltf(filepath=str(glb), disable_bone_shape=True)
    objects, collections, scenes = (
        [one for one in now if one not in old]
        for now, old in zip((bpy.data.objects, bpy.data.collections, bpy.data.scenes), before)
    )
    # Blender 5 makes a scene and a collection of each scene of a GLB.
    for scene in scenes:
        bpy.data.scenes.remove(scene)
    for collection in collections:
        bpy.data.collections.remove(collection)
    imported = collection_of(path, context)
    # The finest level has the name of the file, and comes first.
    roots = [(re.sub(r"\.\d+$", "", one.name), one) for one in objects if one.parent is None]
    for name, root in sorted(roots, key=lambda item: (item[0] != path.stem, item[0])):
        child = add_child(imported, f"{name} meshes" if name == path.stem else name)
        for one in (root, *root.children_recursive):
            for other in one.users_collection:
                other.objects.unlink(one)
            child.objects.link(one)
        # Armour, hulls and hit boxes are not exported: an edit would be lost.
        child.hide_select = path.suffix.lower() == ".geometry" and not ids_of(child.objects)
    imported[MESHES] = json.dumps(ids_of(imported.all_objects))
    # Everything shares one place: only the first collection is visible, and new objects are put into it.
    layers = layers_of(imported, context)
    for layer in layers[1:]:
        layer.hide_viewport = True
    if layers:
        context.view_layer.active_layer_collection = layers[0]
    return messages


def as_property(value: object) -> object:
    """A value as a custom property can hold it: lists, objects and great numbers as JSON."""
    if isinstance(value, (bool, float, str)) or isinstance(value, int) and abs(value) < 2**31:
        return value
    return json.dumps(value, ensure_ascii=False)


def matrix_of(row: dict[str, Any]) -> Matrix | None:
    """The place of a box of a map in Blender, or nothing if the row describes no space.

    A map is left-handed with Y up. Its GLB mirrors X, and Blender makes (x, -z, y) of the (x, y, z) of a GLB.
    """
    place, scale, extents = ([row[f"{part}_{axis}"] for axis in "xyz"] for part in ("pos", "scale", "ext"))
    turn = [row[f"rot_{axis}"] for axis in "wxyz"]
    numbers = [*place, *scale, *extents, *turn]
    if not all(number is not None and math.isfinite(number) for number in numbers) or not any(turn):
        return None
    (x, y, z), (w, i, j, k) = place, Quaternion(turn).normalized()
    half = [abs(size * extent) for size, extent in zip(scale, extents)]
    return Matrix.LocRotScale(Vector((-x, -z, y)), Quaternion((w, i, k, -j)), Vector((half[0], half[2], half[1])))


def import_map(path: Path, context: Any, _options: list[str]) -> list[str]:
    """Imports the boxes of a .wdata as empties, a collection for each type. Returns notes."""
    import assetq

    notes = []
    try:
        with assetq.open(path) as file:
            notes += file.warnings
            # `event_boxes` has the rows of all types of boxes without their own fields.
            tables = [file[name].skip_damaged() for name in file if name != "event_boxes" and set(PLACE) <= set(file[name].column_names)]
            imported = collection_of(path, context)
            for table in tables:
                rows = list(table.dicts())
                if table.damage_count:
                    notes.append(f"{table.name}: {table.damage_count} damaged rows are left out: {table.damage[0]}")
                child = add_child(imported, table.name) if rows else None
                for number, row in enumerate(rows):
                    matrix = matrix_of(row)
                    if matrix is None:
                        notes.append(f"{table.name} {row['name'] or number}: it has no place, and is left out")
                        continue
                    empty = bpy.data.objects.new(row["name"] or f"{table.name} {number}", None)
                    empty.empty_display_type, empty.empty_display_size = "CUBE", 1
                    empty.matrix_world = matrix
                    for column, value in row.items():
                        if value is not None and column not in {"name", "offset", *PLACE}:
                            empty[column] = as_property(value)
                    child.objects.link(empty)
    except assetq.Error as error:
        raise Failure(f"{path}: {error}") from error
    return notes


class Import(bpy.types.Operator, ImportHelper):
    """Import meshes of World of Warships (.geometry, .splash) or the boxes of a Rusty Hearts map (.wdata)"""

    bl_idname = "import_scene.assetq"
    bl_label = "Import Game Files"
    bl_options = {"UNDO", "PRESET"}
    filename_ext = ".geometry"
    filter_glob: StringProperty(default=";".join(f"*{suffix}" for suffix in SUFFIXES), options={"HIDDEN"})
    directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
    all_levels: BoolProperty(name="All Levels of Detail", description="A collection for each level, not only the finest", default=True)
    armor: BoolProperty(name="Armour", description="Plates in colours by thickness", default=True)
    collision: BoolProperty(name="Hulls", description="Collision hulls", default=True)
    splash: BoolProperty(name="Hit Boxes", description="The boxes of the .splash of the same name", default=True)
    texture_size: IntProperty(name="Texture Size", description="The greatest width and height of textures", default=2048, min=1)

    def invoke(self, context: Any, event: Any) -> set[str]:
        # Dropped files have a path: only the options are to be chosen.
        return self.invoke_popup(context)

    def export_options(self, path: Path, context: Any) -> list[str]:
        """The options of `assetq export` for a file."""
        if path.suffix.lower() != ".geometry":
            return []
        parts = [part for part in ("armor", "collision", "splash") if getattr(self, part)]
        options = ["--only", ",".join(["meshes", *parts]), "--texture-size", str(self.texture_size)]
        options += ["--lod", "all"] if self.all_levels else []
        addon = context.preferences.addons.get(__package__)
        game = addon.preferences.game if addon else ""
        return [*options, "--with", bpy.path.abspath(game)] if game else options

    def execute(self, context: Any) -> set[str]:
        paths = [Path(self.directory) / file.name for file in self.files if file.name] or [Path(self.filepath)]
        failed = []
        with progress(context, len(paths)) as done:
            for number, path in enumerate(paths):
                path = Path(bpy.path.abspath(str(path))).absolute()
                importer = import_map if path.suffix.lower() == ".wdata" else import_shapes
                try:
                    for note in importer(path, context, self.export_options(path, context)):
                        self.report({"WARNING"}, note)
                except (Failure, OSError, RuntimeError) as error:
                    failed.append(str(error))
                done(number + 1)
        for message in failed:
            self.report({"ERROR"}, message)
        self.report({"INFO"}, f"{len(paths) - len(failed)} of {len(paths)} files imported")
        return {"FINISHED"} if len(failed) < len(paths) else {"CANCELLED"}


def origin(context: Any) -> Any:
    """The collection that is exported: that of the active object, else the only one from a .geometry."""
    imported = [one for one in bpy.data.collections if str(one.get(SOURCE, "")).lower().endswith(".geometry")]
    active = context.view_layer.objects.active
    of_active = [one for one in imported if active is not None and active.name in one.all_objects]
    found = of_active or imported
    if not found:
        raise Failure("nothing in this file was imported from a .geometry")
    if len(found) > 1:
        raise Failure(f"select an object of the file to export: there are {', '.join(one.name for one in found)}")
    return found[0]


def free_undo(target: Path) -> Path:
    """The first name for an undo patch beside a file that no other patch has."""
    names = (target.with_suffix(f".undo{number}.ndjson" if number > 1 else ".undo.ndjson") for number in range(1, 10_000))
    return next(path for path in names if not path.exists())


def summary(rows: Iterable[dict[str, Any]], objects: Iterable[Any]) -> str:
    """What has changed: meshes by the names of their objects, and other rows by their tables."""
    names = {part: name for name, ids in ids_of(objects).items() for part in ids.split()}
    meshes, others = {}, {}
    for row in rows:
        if row["table"] in OF_MESHES:
            if row["table"].endswith("_mappings"):
                meshes[names.get(row["key"], str(row["key"]))] = None
        else:
            others[row["table"]] = others.get(row["table"], 0) + 1
    parts = [f"changed meshes: {', '.join(meshes)}"] if meshes else []
    return "; ".join(parts + [f"{table}: {count} rows" for table, count in others.items()]) or "nothing has changed"


class Export(bpy.types.Operator, ExportHelper):
    """Export edited meshes into the .geometry from which they were imported, and write an undo patch beside it"""

    bl_idname = "export_scene.assetq"
    bl_label = "Export Geometry"
    filename_ext = ".geometry"
    filter_glob: StringProperty(default="*.geometry", options={"HIDDEN"})

    def invoke(self, context: Any, event: Any) -> set[str]:
        try:
            self.filepath = origin(context)[SOURCE]
        except Failure as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return super().invoke(context, event)

    def execute(self, context: Any) -> set[str]:
        try:
            self.export(context)
        except (Failure, OSError, RuntimeError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def export(self, context: Any) -> None:
        collection = origin(context)
        source = Path(collection[SOURCE])
        target = Path(bpy.path.abspath(self.filepath)).absolute() if self.filepath else source
        undo, before = free_undo(target), source.read_bytes()
        with tempfile.TemporaryDirectory() as folder, progress(context, 2) as done:
            glb = Path(folder) / "edited.glb"
            # The extras have the ids of meshes, so that renamed ones are found. Images stay as they are in the game's files.
            bpy.ops.export_scene.gltf(filepath=str(glb), collection=collection.name, export_extras=True, export_materials="PLACEHOLDER")
            done(1)
            place = ["--in-place"] if target == source else ["--to", target, "--force"]
            code, rows, messages = run("patch", source, glb, *place, "--undo", undo, "--format", "ndjson")
            done(2)
        if code and not undo.exists():
            raise Failure("\n".join(messages) or f"{source}: assetq ended with exit code {code}")
        for message in messages:
            self.report({"WARNING" if code else "INFO"}, message)
        there = set(ids_of(collection.all_objects).values())
        deleted = [name for name, ids in json.loads(collection[MESHES]).items() if ids not in there]
        if deleted:
            self.report({"WARNING"}, f"not in Blender any more, but kept in the file: {', '.join(deleted)}")
        if undo.exists() and target.read_bytes() == before:
            undo.unlink()
        what = summary(map(json.loads, rows.splitlines()), collection.all_objects)
        self.report({"INFO"}, f"{target.name}: {what}" + (f"; {undo.name} restores the old file" if undo.exists() else ""))


class Preferences(bpy.types.AddonPreferences):
    bl_idname = __package__
    game: StringProperty(
        name="Game or Folder",
        description="A folder with textures, materials and GameParams.data that the folder of a .geometry lacks",
        subtype="DIR_PATH",
    )

    def draw(self, _context: Any) -> None:
        self.layout.prop(self, "game")


class Files(bpy.types.FileHandler):
    bl_idname = "ASSETQ_FH_files"
    bl_label = "Game Files"
    bl_import_operator = Import.bl_idname
    bl_file_extensions = ";".join(SUFFIXES)

    @classmethod
    def poll_drop(cls, context: Any) -> bool:
        return context.area is not None and context.area.type in {"VIEW_3D", "OUTLINER"}


def import_entry(menu: Any, _context: Any) -> None:
    menu.layout.operator(Import.bl_idname, text="Game Files (.geometry, .wdata, .splash)")


def export_entry(menu: Any, _context: Any) -> None:
    menu.layout.operator(Export.bl_idname, text="World of Warships Geometry (.geometry)")


CLASSES = (Preferences, Import, Export, Files)
MENUS = ((bpy.types.TOPBAR_MT_file_import, import_entry), (bpy.types.TOPBAR_MT_file_export, export_entry))


def register() -> None:
    for kind in CLASSES:
        bpy.utils.register_class(kind)
    for menu, entry in MENUS:
        menu.append(entry)


def unregister() -> None:
    for menu, entry in MENUS:
        menu.remove(entry)
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
