"""Import `.geometry` files into Blender: an add-on, and the reading half by itself.

Install the package `assetq` into Blender's own Python, and this file as an add-on (Edit > Preferences > Add-ons). Then
File > Import > World of Warships (.geometry). The address may also be a file in the game: GAME:content/….geometry.
"""

from typing import Any, NamedTuple

import numpy as np

import assetq

bl_info = {
    "name": "World of Warships geometry",
    "author": "assetq",
    "version": (0, 1, 0),
    "blender": (3, 6, 0),
    "location": "File > Import",
    "category": "Import-Export",
}


class Part(NamedTuple):
    """A mesh as Blender takes it: Z is up, and corners go around counter-clockwise."""

    name: str
    material: str | None
    vertices: np.ndarray
    triangles: np.ndarray
    normals: np.ndarray | None
    uvs: np.ndarray | None


def turned(vectors: np.ndarray) -> np.ndarray:
    """The game's space is left-handed with Y up, Blender's right-handed with Z up: the same turn as by way of glTF."""
    return np.ascontiguousarray(vectors[:, [0, 2, 1]] * np.array([-1, -1, 1], np.float32))


def facing(vertices: np.ndarray, triangles: np.ndarray, normals: np.ndarray | None) -> np.ndarray:
    """The triangles, turned over where most of them look away from their normals."""
    if normals is None or not len(triangles):
        return triangles
    a, b, c = (vertices[triangles[:, corner]] for corner in range(3))
    agree = np.einsum("ij,ij->i", np.cross(b - a, c - a), normals[triangles[:, 0]])
    return triangles if (agree >= 0).sum() * 2 >= len(agree) else triangles[:, ::-1]


def read(address: str, database: str = "", armor: bool = False) -> list[Part]:
    """The meshes of a file, and its armour, a part for each material."""
    ship, parts = assetq.open(address), []
    for mesh in ship.meshes(*([database] if database else [])):
        positions = mesh.positions
        if positions is None or (mesh.lods and 0 not in mesh.lods):
            continue
        vertices, normals, uvs = turned(positions), mesh.normals, mesh.uvs
        normals = None if normals is None else turned(normals)
        # The game counts V from the top.
        uvs = None if uvs is None else np.column_stack([uvs[:, 0], 1 - uvs[:, 1]])
        triangles = facing(vertices, mesh.triangles.astype(np.int32), normals)
        parts.append(Part(mesh.name, mesh.material, vertices, triangles, normals, uvs))
    for model in ship.armor() if armor else []:
        for material in np.unique(model.material_ids):
            chosen = model.material_ids == material
            vertices = turned(model.triangles[chosen].reshape(-1, 3))
            normals = turned(model.normals[chosen].reshape(-1, 3))
            triangles = np.arange(len(vertices), dtype=np.int32).reshape(-1, 3)
            name = assetq.armor_material(int(material)) or f"material {material}"
            triangles = facing(vertices, triangles, normals)
            parts.append(Part(f"{model.name} {name}", name, vertices, triangles, normals, None))
    return parts


def build(bpy: Any, part: Part) -> Any:
    """The object of a part."""
    mesh = bpy.data.meshes.new(part.name)
    mesh.from_pydata(part.vertices.tolist(), [], part.triangles.tolist())
    if part.uvs is not None:
        layer = mesh.uv_layers.new()
        corners = part.uvs[part.triangles.reshape(-1)].astype(np.float32)
        layer.data.foreach_set("uv", corners.reshape(-1))
    if part.normals is not None:
        mesh.normals_split_custom_set_from_vertices(part.normals.tolist())
    if part.material:
        material = bpy.data.materials.get(part.material) or bpy.data.materials.new(part.material)
        mesh.materials.append(material)
    mesh.validate()
    return bpy.data.objects.new(part.name, mesh)


def operator(bpy: Any) -> Any:
    """The class of the menu's operator, which can be declared in Blender only."""

    class ImportGeometry(bpy.types.Operator):  # type: ignore[misc, name-defined]
        """Import a World of Warships .geometry"""

        bl_idname = "import_scene.assetq_geometry"
        bl_label = "World of Warships (.geometry)"
        bl_options = {"UNDO"}
        filepath: bpy.props.StringProperty(subtype="FILE_PATH")  # type: ignore[valid-type]
        database: bpy.props.StringProperty(name="Database", description="assets.bin, which names the meshes")  # type: ignore[valid-type]
        armor: bpy.props.BoolProperty(name="Armour", default=False)  # type: ignore[valid-type]

        def invoke(self, context: Any, event: Any) -> set[str]:
            context.window_manager.fileselect_add(self)
            return {"RUNNING_MODAL"}

        def execute(self, context: Any) -> set[str]:
            try:
                parts = read(self.filepath, self.database, self.armor)
            except assetq.Error as error:
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}
            for part in parts:
                context.collection.objects.link(build(bpy, part))
            return {"FINISHED"}

    return ImportGeometry


def register() -> None:
    import bpy  # type: ignore[import-not-found, unused-ignore]

    kind = operator(bpy)
    bpy.utils.register_class(kind)
    bpy.types.TOPBAR_MT_file_import.append(lambda menu, _: menu.layout.operator(kind.bl_idname, text=kind.bl_label))
