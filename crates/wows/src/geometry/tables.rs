//! The tables of a `.geometry` file.

use super::armor::Plate;
use super::collision::Hull;
use super::content::{self, SharedContent};
use super::layout::{ArmorVertex, Mapping, PlateHeader};
use super::models::{Piece, PieceModel, PiecePosition};
use super::vertex::{Attribute, Vertices};
use super::{Geometry, METRES, material_name};
use crate::armor::PlateUse;
use crate::bytes::le;
use crate::error::Result;
use crate::id;
use crate::reader::Reader as _;
use crate::reader::entry::{row_of, show_row};
use crate::scene::vector::bounds;
use crate::schema::{Record as _, field};
use crate::table::{Column, DeclaredTable, Kind, OrientedBox, RowEnds, StoredRows, Table, Value, Visitor, no_cell};
use crate::writable::{Edit, edit_of_row, refused};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::{Arc, LazyLock};

/// A function that builds a table.
type Make = for<'g> fn(&'g Geometry) -> Made<'g>;

type Made<'g> = Box<dyn Table + 'g>;

/// All tables by name, the main one first.
const TABLES: [(&str, Make); 13] = [
    ("vertex_buffers", vertex_buffers),
    ("index_buffers", index_buffers),
    ("vertex_mappings", vertex_mappings),
    ("index_mappings", index_mappings),
    ("render_groups", render_groups),
    ("collision_models", collision_models),
    ("collision_hulls", collision_hulls),
    ("hull_vertices", hull_vertices),
    ("armor_models", armor_models),
    ("armor_plates", armor_plates),
    ("armor_triangles", armor_triangles),
    ("vertices", vertices),
    ("triangles", triangles),
];

/// All tables, the main one first.
pub(super) fn all(g: &Geometry) -> Vec<Box<dyn Table + '_>> {
    TABLES.iter().map(|(_, make)| make(g)).collect()
}

/// The table `name`; no other table is built.
pub(super) fn one<'g>(g: &'g Geometry, name: &str) -> Option<Box<dyn Table + 'g>> {
    let (_, make) = TABLES.iter().find(|(known, _)| *known == name)?;
    Some(make(g))
}

/// A table with a row for each part of a kind: its number, and the part. `all` returns the structs that describe the parts.
fn parts<'g, P: 'g, T: 'g>(
    name: &'static str,
    all: impl Fn() -> Result<&'g [P]> + Send + Sync + 'g,
    part: impl Fn(usize) -> Result<T> + Send + Sync + 'g,
) -> DeclaredTable<'g, (usize, T)> {
    DeclaredTable::new(name, move || Ok(all()?.len()), move |row| Ok(Some((row, part(row)?))))
        .column(Column::uint("index").brief().place(), |(row, _)| Ok((*row).into()))
}

fn vertex_buffers(g: &Geometry) -> Made<'_> {
    let table = parts("vertex_buffers", || g.vertices_prototypes(), |row| g.vertex_buffer(row))
        .column(Column::text("format").brief().key(), |(_, b)| Ok(b.format_name()?.into()))
        .column(Column::uint("stride").brief(), |(_, b)| Ok(b.stride().into()))
        .column(Column::uint("count").brief(), |(_, b)| Ok(b.count()?.into()))
        .column(Column::bool("encoded").brief(), |(_, b)| Ok(b.encoded()?.is_some().into()))
        .column(Column::bool("skinned").brief(), |(_, b)| Ok((b.prototype().is_skinned != 0).into()))
        .column(Column::bool("bumped").brief(), |(_, b)| Ok((b.prototype().is_bumped != 0).into()))
        .column(Column::uint("stored_size").brief().place(), |(_, b)| Ok(b.prototype().size_in_bytes.get().into()))
        .column(Column::uint("size").brief(), |(_, b)| Ok(b.size()?.into()))
        .column(Column::uint("offset").place(), |(_, b)| Ok(b.offset()?.into()))
        .column(Column::uint("left"), |(_, b)| Ok(b.format()?.left().into()));
    Box::new(table)
}

fn index_buffers(g: &Geometry) -> Made<'_> {
    let table = parts("index_buffers", || g.indices_prototypes(), |row| g.index_buffer(row))
        .column(Column::uint("index_size").brief().key(), |(_, b)| Ok(b.prototype().index_size.get().into()))
        .column(Column::uint("count").brief(), |(_, b)| Ok(b.count()?.into()))
        .column(Column::bool("encoded").brief(), |(_, b)| Ok(b.encoded()?.is_some().into()))
        .column(Column::uint("stored_size").brief().place(), |(_, b)| Ok(b.prototype().size_in_bytes.get().into()))
        .column(Column::uint("size").brief(), |(_, b)| Ok(b.size()?.into()))
        .column(Column::uint("offset").brief().place(), |(_, b)| Ok(b.offset()?.into()));
    Box::new(table)
}

fn vertex_mappings(g: &Geometry) -> Made<'_> {
    mappings(g, "vertex_mappings", SharedContent::VertexMappings, Geometry::vertex_mappings)
}

fn index_mappings(g: &Geometry) -> Made<'_> {
    mappings(g, "index_mappings", SharedContent::IndexMappings, Geometry::index_mappings)
}

fn mappings<'g>(
    g: &'g Geometry,
    name: &'static str,
    of: SharedContent,
    all: fn(&'g Geometry) -> Result<&'g [Mapping]>,
) -> Made<'g> {
    let contents = LazyLock::new(move || content::all(g, of));
    let table = parts(name, move || all(g), move |row| super::get(all(g)?, row, "mapping"))
        .fields(Mapping::FIELDS, |(_, m)| Ok(g.view("mapping").locate(*m)))
        .column(Column::id64("content"), move |(row, _)| Ok(Value::Id64(content::cell(&contents, *row)?)));
    Box::new(table)
}

fn render_groups(g: &Geometry) -> Made<'_> {
    const VISUAL: &str = "the visual of the geometry, or is a guess";
    let table =
        DeclaredTable::new("render_groups", || Ok(g.groups()?.groups.len()), |row| Ok(g.groups()?.groups.get(row)))
            .column(Column::text("name").brief().read_from(VISUAL), |group| Ok(group.name.as_str().into()))
            .column(Column::id32("indices_id").key(), |group| Ok(mapping_id(g.index_mappings()?, group.indices)))
            .column(Column::id32("vertices_id"), |group| Ok(mapping_id(g.vertex_mappings()?, group.vertices)))
            .column(Column::uint("vertex_mapping").brief().place(), |group| Ok(group.vertices.into()))
            .column(Column::uint("index_mapping").brief().place(), |group| Ok(group.indices.into()))
            .column(Column::uint("vertices").brief(), |group| {
                Ok(g.vertex_mappings()?.get(group.vertices).map(|m| m.items_count.get()).into())
            })
            .column(Column::uint("triangles").brief(), |group| {
                Ok(g.index_mappings()?.get(group.indices).map(|m| m.items_count.get() / 3).into())
            })
            .column(Column::text("pairing").brief().place(), |group| Ok(group.pairing.to_string().into()))
            .column(Column::text("material").brief().read_from(VISUAL), |group| Ok(group.material.as_deref().into()))
            .column(Column::text("mfm").read_from(VISUAL), |group| {
                let path = group.mfm.and_then(|id| g.companions().ok()??.material(id));
                Ok(path.map(Cow::Borrowed).map_or(Value::Null, Value::Text))
            })
            .column(Column::uint("lod").brief().read_from(VISUAL), |group| Ok(group.lods.first().copied().into()))
            .known(|| None)
            .damaged(|| g.companions().err())
            // Without other files, pairs follow from the mappings and their contents.
            .derived()
            .also_called(&["meshes", "groups"]);
    Box::new(table)
}

/// The id of a mapping, by its number.
fn mapping_id<'v>(mappings: &[Mapping], number: usize) -> Value<'v> {
    mappings.get(number).map_or(Value::Null, |mapping| Value::Id32(mapping.mapping_id.get()))
}

/// A table of models, and its last column: the hash of a model's data.
fn models<'g, P: Piece<'g> + Send + Sync>(
    g: &'g Geometry,
    name: &'static str,
    of: SharedContent,
    more: fn(ModelTable<'g, P>) -> ModelTable<'g, P>,
) -> Made<'g> {
    let contents = LazyLock::new(move || content::all(g, of));
    let table = parts(name, || P::prototypes(g), |row| PieceModel::<P>::new(g, row))
        .column(Column::text("name").brief().key(), |(_, m)| Ok(m.name()?.into()))
        .column(Column::uint("offset").brief().place(), |(_, m)| Ok(m.span()?.0.into()))
        .column(Column::uint("size").brief(), |(_, m)| Ok(m.span()?.1.into()));
    let content = Column::id64("content");
    Box::new(more(table).column(content, move |(row, _)| Ok(Value::Id64(content::cell(&contents, *row)?))))
}

type ModelTable<'g, P> = DeclaredTable<'g, (usize, PieceModel<'g, P>)>;

fn armor_models(g: &Geometry) -> Made<'_> {
    models(g, "armor_models", SharedContent::ArmorModels, |table: ModelTable<'_, Plate<'_>>| {
        table
            .column(Column::uint("triangles").brief(), |(_, m)| {
                let mut triangles = 0u64;
                for plate in m.plates()? {
                    triangles = triangles.saturating_add(plate?.triangles().len() as u64);
                }
                Ok(triangles.into())
            })
            .column(Column::uint("plates").brief(), |(_, m)| Ok(m.header()?.plates.get().into()))
            .column(Column::floats("min"), |(_, m)| Ok(floats(m.header()?.min)))
            .column(Column::floats("max"), |(_, m)| Ok(floats(m.header()?.max)))
    })
}

fn floats<'v>(values: [le::F32; 3]) -> Value<'v> {
    Value::floats(values.map(|v| v.get()))
}

fn point(names: [&'static str; 3]) -> [Column; 3] {
    names.map(Column::f32)
}

fn component<'v, const N: usize>(point: Option<[f32; N]>, axis: usize) -> Result<Value<'v>> {
    Ok(point.and_then(|point| point.get(axis).copied()).into())
}

/// A plate, as part of one ship, mount or gun.
struct UsedPlate<'g> {
    geometry: &'g Geometry,
    place: &'g PiecePosition,
    plate: Plate<'g>,
    /// The number of the use.
    number: usize,
}

impl<'g> UsedPlate<'g> {
    fn at(geometry: &'g Geometry, place: &'g PiecePosition, number: usize) -> Result<Self> {
        Ok(Self { geometry, place, plate: place.read(geometry)?, number })
    }

    fn armor(&self) -> Result<Option<&'g PlateUse>> {
        Ok(self.geometry.armor_uses()?.get(self.number))
    }

    fn header(&self) -> &'g PlateHeader {
        self.plate.header()
    }
}

/// Adds the columns of what other files state of a plate.
fn with_armor<'g, R>(
    table: DeclaredTable<'g, R>,
    plate: impl for<'r> Fn(&'r R) -> &'r UsedPlate<'g> + Copy + Send + Sync + 'g,
) -> DeclaredTable<'g, R> {
    const PARAMETERS: &str = "the game's parameters (GameParams.data)";
    table
        .column(Column::new("thickness", Kind::F64).brief().read_from(PARAMETERS), move |row| {
            let header = plate(row).header();
            let armor = plate(row).armor()?;
            Ok(armor.and_then(|armor| armor.thickness(header.layer.get(), header.material_id.get())).into())
        })
        .column(Column::text("ship").brief().repeats().read_from(PARAMETERS), move |row| {
            Ok(plate(row).armor()?.and_then(|armor| armor.ship.as_deref()).into())
        })
        .column(Column::text("component").brief().repeats().read_from(PARAMETERS), move |row| {
            Ok(plate(row).armor()?.and_then(|armor| armor.component.as_deref()).into())
        })
        .column(Column::nested("mounts").read_from(PARAMETERS), move |row| {
            let mounts = plate(row).armor()?.into_iter().flat_map(|armor| &armor.mounts);
            Ok(Value::List(mounts.map(|mount| Value::text(mount)).collect()))
        })
        .column(Column::text("entity").read_from(PARAMETERS), move |row| {
            Ok(plate(row).armor()?.map(|armor| armor.entity.as_str()).into())
        })
}

fn armor_plates(g: &Geometry) -> Made<'_> {
    let table = DeclaredTable::new(
        "armor_plates",
        || Ok(g.armor_places().all.len().saturating_mul(g.rows_of_plate().get())),
        |row| {
            let place = g.armor_places().all.get(row / g.rows_of_plate());
            place.map(|place| UsedPlate::at(g, place, row % g.rows_of_plate())).transpose()
        },
    )
    .column(Column::uint("model").brief().key(), |row: &UsedPlate<'_>| Ok(row.place.model.into()))
    .column(Column::uint("index").brief().place(), |row| Ok(row.place.number.into()))
    .fields(const { field::<PlateHeader>("material_id") }, |row| Ok(g.view("plate").locate(row.header())))
    .column(Column::text("material").brief().resolved(), |row| Ok(material_name(row.header().material_id.get()).into()))
    .fields(const { field::<PlateHeader>("layer") }, |row| Ok(g.view("plate").locate(row.header())))
    .column(Column::uint("triangles").brief(), |row| Ok(row.plate.triangles().len().into()))
    .column(Column::new("area", Kind::F32).brief(), |row| Ok(area(row.plate.triangles()).into()))
    .columns(point(["min_x", "min_y", "min_z"]), |row, axis| component(Some(row.header().min.map(|v| v.get())), axis))
    .columns(point(["max_x", "max_y", "max_z"]), |row, axis| component(Some(row.header().max.map(|v| v.get())), axis))
    .column(Column::uint("offset").place(), |row| Ok(row.plate.offset().into()))
    .with_box(|row| {
        let header = row.header();
        Ok(Some(OrientedBox::of_corners(header.min.map(|v| v.get()), header.max.map(|v| v.get()))))
    })
    .stored_by(Arc::new(PlateUses(g)))
    .damaged(|| g.armor_damage())
    .also_called(&["plates", "armor", "armour", "thickness"]);
    Box::new(with_armor(table, |row| row))
}

/// The rows of a plate: one for each use.
struct PlateUses<'g>(&'g Geometry);

impl StoredRows for PlateUses<'_> {
    fn sharing(&self, _: usize) -> Vec<usize> {
        Vec::new()
    }

    fn stored_len(&self) -> Option<usize> {
        None
    }

    fn repeated(&self, row: usize) -> Option<usize> {
        let use_number = row % self.0.rows_of_plate();
        (use_number > 0).then(|| row.saturating_sub(use_number))
    }
}

/// A triangle of a plate.
struct ArmorTriangle<'g> {
    of: UsedPlate<'g>,
    corners: &'g [ArmorVertex; 3],
}

/// The area of triangles in square metres. Coordinates are floats of 32 bits, so that a double would show digits of no meaning.
fn area(triangles: &[[ArmorVertex; 3]]) -> f32 {
    let areas = triangles.iter().map(|corners| {
        let [a, b, c] =
            corners.each_ref().map(|corner| corner.position.map(|v| f64::from(v.get()) * f64::from(METRES)));
        let [[ux, uy, uz], [vx, vy, vz]] = [b, c].map(|to| [to[0] - a[0], to[1] - a[1], to[2] - a[2]]);
        let across = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
        across.iter().map(|v| v * v).sum::<f64>().sqrt() / 2.0
    });
    #[allow(clippy::cast_possible_truncation, reason = "as exact as the coordinates")]
    let area = areas.sum::<f64>() as f32;
    area
}

fn armor_triangles(g: &Geometry) -> Made<'_> {
    let table = DeclaredTable::new(
        "armor_triangles",
        || Ok(g.armor_places().items.saturating_mul(g.rows_of_plate().get())),
        |row| {
            let Some((place, at)) = g.armor_places().find(row / g.rows_of_plate()) else { return Ok(None) };
            let of = UsedPlate::at(g, place, row % g.rows_of_plate())?;
            Ok(of.plate.triangles().get(at).map(|corners| ArmorTriangle { of, corners }))
        },
    )
    .column(Column::uint("model").brief().key(), |t: &ArmorTriangle<'_>| Ok(t.of.place.model.into()))
    .column(Column::uint("material_id").brief().key(), |t| Ok(t.of.header().material_id.get().into()))
    .column(Column::uint("layer").brief().key(), |t| Ok(t.of.header().layer.get().into()))
    .columns(
        ["x0", "y0", "z0", "x1", "y1", "z1", "x2", "y2", "z2"].map(|name| Column::f32(name).brief()),
        |t, number| {
            let corner = t.corners.get(number / 3).map(|corner| corner.position.map(|v| v.get()));
            component(corner, number % 3)
        },
    )
    .column(Column::uint("plate").place(), |t| Ok(t.of.place.number.into()))
    .column(Column::text("material").resolved(), |t| Ok(material_name(t.of.header().material_id.get()).into()))
    .with_box(|t| {
        let corners = t.corners.iter().map(|corner| corner.position.map(|v| v.get()));
        Ok(bounds(corners).map(|(min, max)| OrientedBox::of_corners(min, max)))
    })
    .damaged(|| g.armor_damage())
    .derived();
    Box::new(with_armor(table, |row| &row.of))
}

fn collision_models(g: &Geometry) -> Made<'_> {
    models(g, "collision_models", SharedContent::CollisionModels, |table: ModelTable<'_, Hull<'_>>| {
        table.column(Column::uint("hulls").brief(), |(_, m)| Ok(m.header()?.hulls.get().into()))
    })
}

fn collision_hulls(g: &Geometry) -> Made<'_> {
    let table = DeclaredTable::new(
        "collision_hulls",
        || Ok(g.collision_places().all.len()),
        |row| g.collision_places().all.get(row).map(|place| Ok((place, place.read::<Hull<'_>>(g)?))).transpose(),
    )
    .column(Column::uint("model").brief().key(), |(place, _)| Ok(place.model.into()))
    .column(Column::uint("index").brief().key(), |(place, _)| Ok(place.number.into()))
    .column(Column::uint("vertices").brief(), |(_, hull)| Ok(hull.vertices().len().into()))
    .column(Column::uint("edges").brief(), |(_, hull)| Ok(hull.edges().len().into()))
    .column(Column::uint("faces").brief(), |(_, hull)| Ok(hull.face_count().into()))
    .column(Column::floats("min"), |(_, hull)| Ok(hull.bounds().map_or(Value::Null, |(min, _)| Value::floats(min))))
    .column(Column::floats("max"), |(_, hull)| Ok(hull.bounds().map_or(Value::Null, |(_, max)| Value::floats(max))))
    .column(Column::uint("offset").place(), |(_, hull)| Ok(hull.offset().into()))
    .with_box(|(_, hull)| Ok(hull.bounds().map(|(min, max)| OrientedBox::of_corners(min, max))))
    .damaged(|| g.collision_places().damage.clone());
    Box::new(table)
}

fn hull_vertices(g: &Geometry) -> Made<'_> {
    let table = DeclaredTable::new(
        "hull_vertices",
        || Ok(g.collision_places().items),
        |row| {
            let Some((place, number)) = g.collision_places().find(row) else { return Ok(None) };
            let corner = Hull::corners_at(g, place)?.get(number);
            Ok(corner.map(|corner| (place, number, corner.map(|v| v.get()))))
        },
    )
    .column(Column::uint("model").brief().key(), |(place, ..)| Ok(place.model.into()))
    .column(Column::uint("hull").brief().key(), |(place, ..)| Ok(place.number.into()))
    .column(Column::uint("index").brief().key(), |(_, number, _)| Ok((*number).into()))
    .columns(point(["x", "y", "z"]).map(Column::brief), |(.., corner), axis| component(Some(*corner), axis))
    .with_box(|(.., corner)| Ok(Some(OrientedBox::of_point(*corner))))
    .damaged(|| g.collision_places().damage.clone())
    .derived();
    Box::new(table)
}

/// A vertex; its buffer is decoded on the first use of its columns.
struct Vertex<'g> {
    geometry: &'g Geometry,
    buffer: usize,
    index: usize,
    /// All vertices of the buffer, once one of them was read.
    all: OnceCell<Vertices<'g>>,
}

impl<'g> Vertex<'g> {
    fn read(&self) -> Result<Vertices<'g>> {
        let all = match self.all.get() {
            Some(all) => all,
            None => {
                let all = self.geometry.vertices(self.buffer)?;
                self.all.get_or_init(|| all)
            }
        };
        all.slice(self.index, 1).ok_or_else(|| no_cell("vertices", self.index, 0))
    }
}

/// The first element of an attribute, if the vertices have this attribute.
fn first<T>(all: Option<impl Iterator<Item = T>>) -> Option<T> {
    all?.next()
}

fn bytes<'v, const N: usize>(bytes: Option<[u8; N]>) -> Value<'v> {
    bytes.map_or(Value::Null, |bytes| Value::List(bytes.into_iter().map(Value::from).collect()))
}

fn vertices<'g>(g: &'g Geometry) -> Made<'g> {
    // The rows of a buffer that states no number are missing: the others end with its error.
    let counts = move || g.vertex_buffers().map(|buffer| buffer.size().and_then(|_| buffer.count()));
    let starts = Arc::new(LazyLock::new(move || counts().map(|count| count.unwrap_or(0)).collect::<RowEnds>()));
    let of_count = Arc::clone(&starts);
    let table = DeclaredTable::walked(
        "vertices",
        move || g.vertices_prototypes().map(|_| of_count.total()),
        move |row, before: Option<Vertex<'_>>| {
            Ok(starts.locate(row).map(|(buffer, index)| {
                let before = before.filter(|before| before.buffer == buffer);
                Vertex { geometry: g, buffer, index, all: before.map_or_else(OnceCell::new, |before| before.all) }
            }))
        },
    )
    .column(Column::uint("buffer").brief().key(), |v| Ok(v.buffer.into()))
    .column(Column::uint("index").brief().key(), |v| Ok(v.index.into()))
    .columns(point(["x", "y", "z"]).map(Column::brief), |v, axis| component(first(v.read()?.positions()), axis))
    .columns(point(["nx", "ny", "nz"]).map(Column::brief), |v, axis| component(first(v.read()?.normals()), axis))
    .columns(["u", "v"].map(|name| Column::f32(name).brief()), move |v, number| {
        component(first(v.read()?.uvs()), number)
    })
    .columns(["u2", "v2"].map(Column::f32), |v, number| component(first(v.read()?.uv2s()), number))
    .column(Column::floats("tangent"), |v| Ok(first(v.read()?.tangents()).map_or(Value::Null, Value::floats)))
    .column(Column::floats("binormal"), |v| Ok(first(v.read()?.binormals()).map_or(Value::Null, Value::floats)))
    .column(Column::numbers("bones"), |v| Ok(bytes(first(v.read()?.bone_indices()))))
    .column(Column::numbers("weights"), |v| Ok(bytes(first(v.read()?.weights()))))
    .column(Column::f32("radius"), |v| Ok(first(v.read()?.radii()).into()))
    .column(Column::uint("id"), |v| Ok(first(v.read()?.ids()).into()))
    .column(Column::numbers("colour"), |v| Ok(bytes(first(v.read()?.colours()))))
    .with_box(|v| Ok(first(v.read()?.positions()).map(OrientedBox::of_point)))
    .damaged(move || counts().find_map(Result::err))
    .derived();
    Box::new(table)
}

fn triangles(g: &Geometry) -> Made<'_> {
    let counts = move || g.index_buffers().map(|buffer| buffer.size().and_then(|_| Ok(buffer.count()? / 3)));
    let starts = Arc::new(LazyLock::new(move || counts().map(|count| count.unwrap_or(0)).collect::<RowEnds>()));
    let of_count = Arc::clone(&starts);
    let table = DeclaredTable::new(
        "triangles",
        move || g.indices_prototypes().map(|_| of_count.total()),
        move |row| Ok(starts.locate(row)),
    )
    .column(Column::uint("buffer").brief().key(), |(buffer, _)| Ok((*buffer).into()))
    .column(Column::uint("index").brief().key(), |(_, index)| Ok((*index).into()))
    .columns(["a", "b", "c"].map(|name| Column::uint(name).brief()), |(buffer, index), corner| {
        let at = index.saturating_mul(3).saturating_add(corner);
        let found = g.indices(*buffer)?.get(at).ok_or_else(|| no_cell("triangles", *index, corner))?;
        Ok(found.into())
    })
    .damaged(move || counts().find_map(Result::err))
    .derived();
    Box::new(table)
}

/// Facts that `info` shows besides sections and tables.
pub(super) fn facts(g: &Geometry) -> Vec<(Cow<'static, str>, Value<'_>)> {
    let sections = g.sections();
    let unmapped: Vec<Value<'_>> = sections
        .iter()
        .filter(|s| s.name == "unmapped")
        .map(|s| Value::Map(vec![("offset".into(), Value::Uint(s.offset)), ("size".into(), Value::Uint(s.size))]))
        .collect();
    let unknown: Vec<Value<'_>> = g
        .vertex_buffers()
        .filter_map(|buffer| Some((buffer.index(), buffer.format().ok()?)))
        .filter(|(_, format)| !format.is_known())
        .map(|(i, format)| {
            let what = if format.has(Attribute::Position) { "only positions are read" } else { "nothing is read" };
            format!("vertex buffer {i}: {what}, {} bytes a vertex left", format.left()).into()
        })
        .collect();
    let mut facts = vec![
        ("decoded_size".into(), g.decoded_size().map_or(Value::Null, Value::Uint)),
        ("unmapped".into(), Value::List(unmapped)),
    ];
    if !unknown.is_empty() {
        facts.push(("formats_not_read".into(), Value::List(unknown)));
    }
    facts
}

/// Shows `entry`: a mapping id (`0x…`), the name of a model, a row of the main table (`0`), or a table and a row
/// (`armor_plates/0`).
pub(super) fn cat(g: &Geometry, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
    if let Some(id) = id::parse32(entry)
        && show_mapping(g, id, out)?
    {
        return Ok(true);
    }
    let Some((table, row)) = entry_row(g, entry)? else { return Ok(false) };
    show_row(&*table, row, out).map(|()| true)
}

/// The row that [`cat`] shows, unless the entry is a mapping id.
pub(super) fn entry_row<'g>(g: &'g Geometry, entry: &str) -> Result<Option<(Made<'g>, usize)>> {
    if let Some((table, row)) = entry.rsplit_once('/')
        && let Some(table) = g.table(table)
        && let Ok(row) = row.parse::<usize>()
    {
        return there(table, row);
    }
    // `ls` shows the rows of the main table by their numbers.
    if let Ok(row) = entry.parse::<usize>()
        && let Some(found) = there(vertex_buffers(g), row)?
    {
        return Ok(Some(found));
    }
    for table in [armor_models(g), collision_models(g)] {
        if let Some(row) = row_of(&*table, entry)?.filter(|_| !entry.is_empty()) {
            return Ok(Some((table, row)));
        }
    }
    Ok(None)
}

/// The row, unless it is past the end of the table.
fn there(table: Made<'_>, row: usize) -> Result<Option<(Made<'_>, usize)>> {
    let is_there = row < table.len()?;
    Ok(is_there.then_some((table, row)))
}

/// The edits of the mappings with this id to the forms in `new`, which [`cat`] has shown; `None` if there are no such mappings.
pub(super) fn mapping_edits(g: &Geometry, id: u32, new: &Value<'static>) -> Result<Option<Vec<Edit>>> {
    let (vertices, indices) = (g.vertex_mapping(id)?, g.index_mapping(id)?);
    if vertices.is_none() && indices.is_none() {
        return Ok(None);
    }
    let Value::Map(parts) = new else { return Err(refused("an entry is an object, as `cat ENTRY -f json` shows it")) };
    let mut edits = Vec::new();
    for (name, row) in [("vertex_mappings", vertices), ("index_mappings", indices)] {
        let part = parts.iter().find(|(part, _)| *part == name.trim_end_matches('s')).map(|(_, part)| part);
        if let (Some(table), Some(row), Some(Value::Map(cells))) = (g.table(name), row, part) {
            edits.extend(edit_of_row(&*table, row, cells)?);
        }
    }
    Ok(Some(edits))
}

/// The mappings with this id, and the render groups that they are part of.
fn show_mapping(g: &Geometry, id: u32, out: &mut dyn Visitor) -> Result<bool> {
    let (vertices, indices) = (g.vertex_mapping(id)?, g.index_mapping(id)?);
    if vertices.is_none() && indices.is_none() {
        return Ok(false);
    }
    out.begin_map()?;
    for (name, row) in [("vertex_mappings", vertices), ("index_mappings", indices)] {
        if let (Some(table), Some(row)) = (g.table(name), row) {
            out.key(name.trim_end_matches('s'))?;
            show_row(&*table, row, out)?;
        }
    }
    out.key("render_groups")?;
    out.begin_list()?;
    let groups = g.groups();
    if let (Ok(groups), Some(table)) = (&groups, g.table("render_groups")) {
        for (row, group) in groups.groups.iter().enumerate() {
            if Some(group.vertices) == vertices || Some(group.indices) == indices {
                show_row(&*table, row, out)?;
            }
        }
    }
    out.end_list()?;
    out.end_map()?;
    groups.map(|_| true)
}
