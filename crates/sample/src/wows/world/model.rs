//! Models: nodes and groups of triangles, written as a `.geometry`, as text, and as records of a database.

use super::cruiser::{
    FLEET, MOUNTS, Mount, PLACES, Piece, Place, SPLASH, Section, Sister, Skin, meshes_of, plates, section,
};
use super::shape::{Mesh, Point, UNIT, scale, sub};
use crate::wows::geometry::{GeometryBuilder, HullShape, Mapping, PlateShape, Vertex, pack_vertices, splash};
use crate::wows::text_models::{Dialect, Joint, RenderSet, jointed};
use assetq_core::codec::murmur3;

/// Levels of detail.
pub const LEVELS: usize = 3;
/// The distances up to which the levels are drawn.
pub const EXTENTS: [f32; LEVELS] = [12.0, 40.0, 1000.0];

type Matrix = [f32; 16];

const IDENTITY: Matrix = [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.];

/// Triangles of one material at one level of detail.
#[derive(Debug, Clone)]
pub struct Group {
    pub name: String,
    pub skin: Skin,
    pub lod: usize,
    /// The nodes on which it hangs.
    pub nodes: Vec<String>,
    /// The number of its mesh in the model.
    pub mesh: usize,
    pub bounds: [Point; 2],
}

/// A model, and what is beside its meshes.
#[derive(Debug, Clone, Default)]
pub struct Model {
    pub joints: Vec<Joint>,
    pub groups: Vec<Group>,
    /// Meshes, and whether they have bones.
    meshes: Vec<(Vec<Vertex>, Vec<u32>, bool)>,
    plates: Vec<PlateShape>,
    hulls: Vec<HullShape>,
}

/// A matrix that moves, and turns to the aft or mirrors along the ship.
fn moved(at: Point, [x, z]: [f32; 2]) -> Matrix {
    let mut matrix = IDENTITY;
    (matrix[0], matrix[10]) = (x, z);
    matrix[12..15].copy_from_slice(&scale(at, 1.0 / UNIT));
    matrix
}

/// The name of a group at a level of detail.
fn leveled(name: &str, lod: usize) -> String {
    if lod == 0 { format!("{name}Shape") } else { format!("{name}_lod{lod}Shape") }
}

impl Model {
    fn new() -> Self {
        let mut model = Self::default();
        model.joint("Scene Root", None, IDENTITY);
        model
    }

    fn joint(&mut self, name: &str, parent: Option<usize>, matrix: Matrix) -> usize {
        self.joints.push(Joint { name: name.into(), parent, matrix });
        self.joints.len() - 1
    }

    fn mesh(&mut self, mesh: &Mesh, skinned: bool) -> usize {
        let (vertices, indices) = mesh.in_units();
        self.meshes.push((vertices, indices, skinned));
        self.meshes.len() - 1
    }

    /// Adds the groups of a section of a ship.
    fn section(&mut self, ship: &Sister, of: Section) {
        for lod in 0..LEVELS - ship.detail {
            for (skin, mesh) in section(of, lod + ship.detail) {
                let mesh = mesh.moved(|place| ship.sized(place), |normal| normal);
                let name = leveled(&format!("{of:?}_{}", skin.part()), lod);
                let (bounds, mesh) = (mesh.bounds(), self.mesh(&mesh, false));
                self.groups.push(Group { name, skin, lod, nodes: vec!["Scene Root".into()], mesh, bounds });
            }
        }
    }

    fn hard_points(&mut self, places: impl IntoIterator<Item = Place>) {
        for place in places {
            let turn = if place.aft { [-1.0; 2] } else { [1.0; 2] };
            self.joint(place.node, Some(0), moved(place.at, turn));
        }
    }

    /// The joints of a mount below a node: they turn it and lift its barrels, and each has a bone.
    fn rig(&mut self, mount: &Mount, below: usize, end: &str, is_mod: bool) -> Vec<String> {
        let bone = |at: Point| moved(sub([0.0; 3], at), [1.0, if is_mod { -1.0 } else { 1.0 }]);
        let turn = self.joint(&format!("Rotate_Y{end}"), Some(below), IDENTITY);
        let bones = ["Rotate_Y", "Rotate_X"].map(|name| format!("{name}{end}_BlendBone"));
        self.joint(&bones[0], Some(turn), bone([0.0; 3]));
        let lift = self.joint(&format!("Rotate_X{end}"), Some(turn), moved(mount.axis, [1.0; 2]));
        self.joint(&bones[1], Some(lift), bone(mount.axis));
        for (muzzle, number) in mount.muzzles.iter().zip(1..) {
            self.joint(&format!("HP_gunFire{number}{end}"), Some(lift), moved(sub(*muzzle, mount.axis), [1.0; 2]));
        }
        bones.to_vec()
    }

    /// The mesh of a mount at a level of detail. Bones of mods mirror the ship, so that its vertices are mirrored there.
    fn mount(&mut self, mount: &Mount, lod: usize, is_mod: bool) -> (usize, [Point; 2]) {
        let mut all = Mesh::default();
        for (mut mesh, bone) in mount.meshes(lod).into_iter().zip(0..) {
            for vertex in &mut mesh.vertices {
                (vertex.bones, vertex.weights) = ([bone; 3], [0, 0, 255, 0]);
            }
            all.join(&mesh);
        }
        let mirror = |[x, y, z]: Point| [x, y, -z];
        let bounds = all.bounds();
        (self.mesh(&if is_mod { all.moved(mirror, mirror) } else { all }, true), bounds)
    }

    /// The `.geometry`.
    pub fn geometry(&self) -> Vec<u8> {
        let mut builder = GeometryBuilder::new();
        for (format, stride, skinned) in [("set3/xyznuvtbpc", 28, false), ("set3/xyznuviiiwwtbpc", 36, true)] {
            let (mut vertices, mut indices) = (Vec::new(), Vec::new());
            let buffer = builder.buffers();
            for (mesh, (points, corners, _)) in self.meshes.iter().enumerate().filter(|(_, mesh)| mesh.2 == skinned) {
                for group in self.groups.iter().filter(|group| group.mesh == mesh) {
                    let id = |what: &str| murmur3(format!("{}.{what}", group.name).as_bytes());
                    let density = 0x3000 + group.mesh as u16;
                    let mapping = |id, start, count| Mapping { id, buffer, density, start, count };
                    builder.vertex_mapping(mapping(id("vertices"), vertices.len() as u32, points.len() as u32));
                    builder.index_mapping(mapping(id("indices"), indices.len() as u32, corners.len() as u32));
                }
                vertices.extend(points);
                indices.extend(corners);
            }
            if !vertices.is_empty() {
                builder.vertex_buffer(format, stride, &pack_vertices(format, stride, &vertices), true);
                builder.index_buffer(2, &indices, true);
            }
        }
        if !self.hulls.is_empty() {
            builder.collision("default", self.hulls.clone());
        }
        if !self.plates.is_empty() {
            builder.armor("CM_PA_united.armor", self.plates.clone());
        }
        builder.build()
    }

    /// The `.visual` of a mod, called `name` without the ending, of one level of detail or of all.
    pub fn visual(&self, name: &str, lod: Option<usize>, mfm: impl Fn(Skin) -> String) -> Vec<u8> {
        let groups: Vec<&Group> = self.groups.iter().filter(|group| lod.is_none_or(|lod| group.lod == lod)).collect();
        let texts = groups.iter().map(|group| [group.nodes.join(" "), group.skin.shader(), mfm(group.skin)]);
        let texts: Vec<[String; 3]> = texts.collect();
        let sets = groups.iter().zip(&texts).map(|(group, [node, material, mfm])| RenderSet {
            name: &group.name,
            node,
            material,
            mfm,
            lod: group.lod,
        });
        let dialect = if lod.is_some() { Dialect::Old } else { Dialect::New };
        jointed(name, dialect, &self.joints, &sets.collect::<Vec<_>>())
    }

    /// The names of its groups by level of detail.
    pub fn of_level(&self, lod: usize) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(move |group| group.lod == lod)
    }

    /// The groups of a level of detail, or of the last one before it that there is.
    pub fn coarse(&self, lod: usize) -> impl Iterator<Item = &Group> {
        let last = self.groups.iter().map(|group| group.lod).max().unwrap_or(0);
        self.of_level(lod.min(last))
    }

    /// The vertices and indices of a group.
    pub fn mesh_of(&self, group: &Group) -> (&[Vertex], &[u32]) {
        let (vertices, indices, _) = &self.meshes[group.mesh];
        (vertices, indices)
    }

    /// Whether it has the hit boxes of a ship.
    pub fn is_hull(&self) -> bool {
        !self.hulls.is_empty()
    }

    /// Takes away groups without triangles: what is too small for their level.
    fn whole(&mut self) {
        self.groups.retain(|group| !self.meshes[group.mesh].1.is_empty());
    }

    pub fn bounds(&self) -> [Point; 2] {
        self.groups.iter().fold([[f32::MAX; 3], [f32::MIN; 3]], |[min, max], group| {
            let [low, high] = group.bounds;
            [std::array::from_fn(|i| min[i].min(low[i])), std::array::from_fn(|i| max[i].max(high[i]))]
        })
    }
}

/// Adds meshes without bones in one buffer, each with the ids of its mappings.
pub fn rigid<'m>(builder: &mut GeometryBuilder, meshes: impl Iterator<Item = ([u32; 2], (&'m [Vertex], &'m [u32]))>) {
    let (mut vertices, mut indices, buffer) = (Vec::new(), Vec::new(), builder.buffers());
    for (density, (ids, (points, corners))) in (0x3000..).zip(meshes) {
        let mapping =
            |id, start: usize, count: usize| Mapping { id, buffer, density, start: start as u32, count: count as u32 };
        builder.vertex_mapping(mapping(ids[0], vertices.len(), points.len()));
        builder.index_mapping(mapping(ids[1], indices.len(), corners.len()));
        vertices.extend_from_slice(points);
        indices.extend_from_slice(corners);
    }
    builder.vertex_buffer("set3/xyznuvtbpc", 28, &pack_vertices("set3/xyznuvtbpc", 28, &vertices), true);
    builder.index_buffer(2, &indices, true);
}

/// The *Aurora* as one model of a mod: all sections, and a rig for each mount.
pub fn whole_ship() -> Model {
    let mut model = Model::new();
    Section::ALL.into_iter().for_each(|section| model.section(&FLEET[0], section));
    let meshes: Vec<Vec<_>> =
        MOUNTS.iter().map(|mount| (0..LEVELS).map(|lod| model.mount(mount, lod, true)).collect()).collect();
    for place in PLACES {
        model.hard_points([place]);
        let node = model.joints.len() - 1;
        let nodes = model.rig(&MOUNTS[place.mount], node, &place.node[2..], true);
        for (lod, (mesh, bounds)) in meshes[place.mount].iter().enumerate() {
            let name = leveled(&place.node[3..], lod);
            model.groups.push(Group { name, skin: Skin::Gun, lod, nodes: nodes.clone(), mesh: *mesh, bounds: *bounds });
        }
    }
    model.whole();
    (model.plates, model.hulls) = (plates(true), collision());
    model
}

/// A section of a ship. The one amidships has the hard points and the armour of the whole hull.
pub fn ship_section(ship: &Sister, of: Section) -> Model {
    let mut model = Model::new();
    model.section(ship, of);
    if of == Section::Midship {
        let places = ship.mounts.iter().map(|place| Place { at: ship.sized(PLACES[*place].at), ..PLACES[*place] });
        model.hard_points(places);
        model.plates = plates(false);
        for corner in model.plates.iter_mut().flat_map(|plate| plate.triangles.as_flattened_mut()) {
            *corner = ship.sized(*corner);
        }
        model.hulls = collision();
    }
    model.whole();
    model
}

/// A mount by itself, as mods or the game hold it.
pub fn gun(mount: &Mount, is_mod: bool) -> Model {
    let mut model = Model::new();
    let nodes = model.rig(mount, 0, "", is_mod);
    for lod in 0..LEVELS {
        let (mesh, bounds) = model.mount(mount, lod, is_mod);
        let name = leveled(mount.name, lod);
        model.groups.push(Group { name, skin: Skin::Gun, lod, nodes: nodes.clone(), mesh, bounds });
    }
    model.whole();
    model.plates = mount.plates();
    model
}

/// A thing that neither floats nor shoots, at one level of detail.
pub fn prop(path: &str, pieces: &[Piece]) -> Model {
    let mut model = Model::new();
    let name = path.rsplit('/').next().unwrap_or(path);
    for (skin, mesh) in meshes_of(pieces, 0) {
        let (bounds, mesh) = (mesh.bounds(), model.mesh(&mesh, false));
        let name = leveled(&format!("{name}_{}", skin.part()), 0);
        model.groups.push(Group { name, skin, lod: 0, nodes: vec!["Scene Root".into()], mesh, bounds });
    }
    model
}

fn collision() -> Vec<HullShape> {
    let boxes = [([-9.8, -6.0, -93.0], [9.8, 6.4, 74.0]), ([-4.6, 9.0, 18.0], [4.6, 19.0, 36.0])];
    boxes.map(|(min, max): (Point, Point)| HullShape::cuboid(scale(min, 1.0 / UNIT), scale(max, 1.0 / UNIT))).to_vec()
}

/// The hit boxes of a ship.
pub fn hit_boxes(ship: &Sister) -> Vec<u8> {
    splash(&SPLASH.map(|(name, min, max)| {
        let [min, max] = [min, max].map(|corner| scale(ship.sized(corner), 1.0 / UNIT));
        (name, min, max)
    }))
}
