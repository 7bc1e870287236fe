//! The tables of a `.geometry` file.

use super::armor::Plate;
use super::collision::Hull;
use super::content::{self, Of};
use super::layout::Mapping;
use super::mesh::Group;
use super::vertex::Attribute;
use super::{Geometry, material_name};
use crate::bytes::le;
use crate::error::{Error, Result};
use crate::id;
use crate::reader::Reader as _;
use crate::table::{Column, IndexCursor, Kind, Role, RowCursor, Table, Value, Visitor, no_cell};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

/// A cell, or `None` for a row or column that does not exist.
type Cell<'g> = Result<Option<Value<'g>>>;

/// A table made of two functions.
pub(super) struct Rows<'g> {
    name: &'static str,
    columns: Vec<Column>,
    len: Box<dyn Fn() -> Result<usize> + Send + Sync + 'g>,
    /// Whether counting costs next to nothing.
    cheap: bool,
    /// What keeps the rows from being complete: comes behind the last one that can be read.
    damage: Box<dyn Fn() -> Option<Error> + Send + Sync + 'g>,
    cell: Box<dyn Fn(usize, usize) -> Cell<'g> + Send + Sync + 'g>,
}

impl<'g> Rows<'g> {
    pub(super) fn new(
        name: &'static str,
        columns: &[(&'static str, Kind)],
        brief: usize,
        len: impl Fn() -> Result<usize> + Send + Sync + 'g,
        cell: impl Fn(usize, usize) -> Cell<'g> + Send + Sync + 'g,
    ) -> Self {
        let column = |(i, &(name, kind)): (usize, &(&'static str, Kind))| {
            let column = Column::new(name, kind);
            if i < brief { column.brief() } else { column }
        };
        Self {
            name,
            columns: columns.iter().enumerate().map(column).collect(),
            len: Box::new(len),
            cheap: true,
            damage: Box::new(|| None),
            cell: Box::new(cell),
        }
    }

    /// The same, whose rows are known by the columns `names` in other files as well. Rows and bytes of this file that
    /// its columns number are places.
    pub(super) fn known_by(mut self, names: &[&str]) -> Self {
        for column in &mut self.columns {
            column.role = match &*column.name {
                name if names.contains(&name) => Role::Key,
                // The name of its material's number.
                "material" => Role::Resolved,
                "index" | "buffer" | "start" | "offset" | "stored_size" | "vertex_mapping" | "index_mapping"
                | "plate" => Role::Place,
                _ => Role::Value,
            };
        }
        self
    }

    /// The same, where rows are found by walking: with `damage` behind the last.
    pub(super) fn walked(mut self, damage: impl Fn() -> Option<Error> + Send + Sync + 'g) -> Self {
        self.damage = Box::new(damage);
        self
    }

    /// The same, where counting needs buffers decoded: counted only when asked to.
    fn costly(mut self) -> Self {
        self.cheap = false;
        self
    }
}

impl Table for Rows<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        (self.len)()
    }

    fn known_len(&self) -> Option<usize> {
        if self.cheap { self.len().ok() } else { None }
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        (self.cell)(row, column)?.ok_or_else(|| no_cell(self.name, row, column))
    }

    fn cursor(&self, first: usize) -> Box<dyn RowCursor + '_> {
        let has = |row| if row < self.len()? { Ok(true) } else { (self.damage)().map_or(Ok(false), Err) };
        Box::new(IndexCursor::new(self, first, has))
    }
}

/// How a table is made.
type Make = for<'g> fn(&'g Geometry) -> Rows<'g>;

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
    TABLES.iter().map(|(_, make)| Box::new(make(g)) as Box<dyn Table + '_>).collect()
}

/// The table called `name`; no other one is made.
pub(super) fn one<'g>(g: &'g Geometry, name: &str) -> Option<Box<dyn Table + 'g>> {
    let (_, make) = TABLES.iter().find(|(known, _)| *known == name)?;
    Some(Box::new(make(g)))
}

fn vertex_buffers(g: &Geometry) -> Rows<'_> {
    let columns = [
        ("index", Kind::Uint),
        ("format", Kind::Text),
        ("stride", Kind::Uint),
        ("count", Kind::Uint),
        ("encoded", Kind::Bool),
        ("skinned", Kind::Bool),
        ("bumped", Kind::Bool),
        ("stored_size", Kind::Uint),
        ("size", Kind::Uint),
        ("offset", Kind::Uint),
        ("left", Kind::Uint),
    ];
    let len = || Ok(g.vertices_prototypes()?.len());
    Rows::new("vertex_buffers", &columns, 9, len, |row, column| {
        let b = g.vertex_buffer(row)?;
        Ok(Some(match column {
            0 => row.into(),
            1 => b.format_name()?.into(),
            2 => b.stride().into(),
            3 => b.count()?.into(),
            4 => b.encoded()?.is_some().into(),
            5 => (b.prototype().is_skinned != 0).into(),
            6 => (b.prototype().is_bumped != 0).into(),
            7 => b.prototype().size_in_bytes.get().into(),
            8 => b.size()?.into(),
            9 => b.offset()?.into(),
            10 => b.format()?.left().into(),
            _ => return Ok(None),
        }))
    })
    .known_by(&["format"])
}

fn index_buffers(g: &Geometry) -> Rows<'_> {
    let columns = [
        ("index", Kind::Uint),
        ("index_size", Kind::Uint),
        ("count", Kind::Uint),
        ("encoded", Kind::Bool),
        ("stored_size", Kind::Uint),
        ("size", Kind::Uint),
        ("offset", Kind::Uint),
    ];
    let len = || Ok(g.indices_prototypes()?.len());
    Rows::new("index_buffers", &columns, 7, len, |row, column| {
        let b = g.index_buffer(row)?;
        Ok(Some(match column {
            0 => row.into(),
            1 => b.prototype().index_size.get().into(),
            2 => b.count()?.into(),
            3 => b.encoded()?.is_some().into(),
            4 => b.prototype().size_in_bytes.get().into(),
            5 => b.size()?.into(),
            6 => b.offset()?.into(),
            _ => return Ok(None),
        }))
    })
    .known_by(&["index_size"])
}

fn vertex_mappings(g: &Geometry) -> Rows<'_> {
    mappings(g, "vertex_mappings")
}

fn index_mappings(g: &Geometry) -> Rows<'_> {
    mappings(g, "index_mappings")
}

fn mappings<'g>(g: &'g Geometry, name: &'static str) -> Rows<'g> {
    let columns = [
        ("index", Kind::Uint),
        ("mapping_id", Kind::Id32),
        ("buffer", Kind::Uint),
        ("texel_density", Kind::Uint),
        ("start", Kind::Uint),
        ("count", Kind::Uint),
        ("content", Kind::Id64),
    ];
    let of = if name == "vertex_mappings" { Of::VertexMappings } else { Of::IndexMappings };
    let contents = LazyLock::new(move || content::all(g, of));
    let get = move || -> Result<&'g [Mapping]> {
        if name == "vertex_mappings" { g.vertex_mappings() } else { g.index_mappings() }
    };
    Rows::new(
        name,
        &columns,
        6,
        move || Ok(get()?.len()),
        move |row, column| {
            let Some(m) = get()?.get(row) else { return Ok(None) };
            Ok(Some(match column {
                0 => row.into(),
                1 => Value::Id32(m.mapping_id.get()),
                2 => m.merged_buffer_index.get().into(),
                3 => m.packed_texel_density.get().into(),
                4 => m.items_offset.get().into(),
                5 => m.items_count.get().into(),
                6 => Value::Id64(content::cell(&contents, row)?),
                _ => return Ok(None),
            }))
        },
    )
    .known_by(&["mapping_id"])
}

fn render_groups(g: &Geometry) -> Rows<'_> {
    let columns = [
        ("name", Kind::Text),
        ("vertex_mapping", Kind::Uint),
        ("index_mapping", Kind::Uint),
        ("vertices", Kind::Uint),
        ("triangles", Kind::Uint),
        ("pairing", Kind::Text),
    ];
    let table = Rows::new(
        "render_groups",
        &columns,
        6,
        || Ok(g.groups()?.groups.len()),
        |row, column| {
            let Some(group) = g.groups()?.groups.get(row) else { return Ok(None) };
            Ok(Some(match column {
                0 => group.name.as_str().into(),
                1 => group.vertices.into(),
                2 => group.indices.into(),
                3 => g.vertex_mappings()?.get(group.vertices).map(|m| m.items_count.get()).into(),
                4 => g.index_mappings()?.get(group.indices).map(|m| m.items_count.get() / 3).into(),
                5 => group.pairing.to_string().into(),
                _ => return Ok(None),
            }))
        },
    );
    table.known_by(&["name"]).costly()
}

fn armor_models(g: &Geometry) -> Rows<'_> {
    let columns = [
        ("index", Kind::Uint),
        ("name", Kind::Text),
        ("offset", Kind::Uint),
        ("size", Kind::Uint),
        ("triangles", Kind::Uint),
        ("plates", Kind::Uint),
        ("min", Kind::Nested),
        ("max", Kind::Nested),
        ("content", Kind::Id64),
    ];
    let contents = LazyLock::new(move || content::all(g, Of::ArmorModels));
    Rows::new(
        "armor_models",
        &columns,
        6,
        || Ok(g.armor_prototypes()?.len()),
        move |row, column| {
            let m = g.armor_model(row)?;
            Ok(Some(match column {
                0 => row.into(),
                1 => m.name()?.into(),
                2 => m.span()?.0.into(),
                3 => m.span()?.1.into(),
                4 => {
                    let mut triangles = 0u64;
                    for plate in m.plates()? {
                        triangles = triangles.saturating_add(plate?.triangles().len() as u64);
                    }
                    triangles.into()
                }
                5 => m.header()?.plates.get().into(),
                6 => floats(m.header()?.min),
                7 => floats(m.header()?.max),
                8 => Value::Id64(content::cell(&contents, row)?),
                _ => return Ok(None),
            }))
        },
    )
    .known_by(&["name"])
}

fn floats<'v>(values: [le::F32; 3]) -> Value<'v> {
    Value::floats(values.map(|v| v.get()))
}

fn armor_plates(g: &Geometry) -> Rows<'_> {
    let columns = [
        ("model", Kind::Uint),
        ("index", Kind::Uint),
        ("material_id", Kind::Uint),
        ("material", Kind::Text),
        ("layer", Kind::Uint),
        ("triangles", Kind::Uint),
        ("min_x", Kind::F32),
        ("min_y", Kind::F32),
        ("min_z", Kind::F32),
        ("max_x", Kind::F32),
        ("max_y", Kind::F32),
        ("max_z", Kind::F32),
        ("offset", Kind::Uint),
    ];
    let table = Rows::new(
        "armor_plates",
        &columns,
        6,
        || Ok(g.armor_places().all.len()),
        |row, column| {
            let Some(place) = g.armor_places().all.get(row) else { return Ok(None) };
            let plate = Plate::at(g, place)?;
            let h = plate.header();
            Ok(Some(match column {
                0 => place.model.into(),
                1 => place.number.into(),
                2 => h.material_id.get().into(),
                3 => material_name(h.material_id.get()).into(),
                4 => h.layer.get().into(),
                5 => plate.triangles().len().into(),
                6..=8 => h.min.get(column.saturating_sub(6)).map(|v| v.get()).into(),
                9..=11 => h.max.get(column.saturating_sub(9)).map(|v| v.get()).into(),
                12 => plate.offset().into(),
                _ => return Ok(None),
            }))
        },
    );
    let table = table.known_by(&["model", "material_id", "layer"]);
    table.walked(|| g.armor_places().damage.as_ref().map(Error::again))
}

fn armor_triangles(g: &Geometry) -> Rows<'_> {
    let columns = [
        ("model", Kind::Uint),
        ("material_id", Kind::Uint),
        ("layer", Kind::Uint),
        ("x0", Kind::F32),
        ("y0", Kind::F32),
        ("z0", Kind::F32),
        ("x1", Kind::F32),
        ("y1", Kind::F32),
        ("z1", Kind::F32),
        ("x2", Kind::F32),
        ("y2", Kind::F32),
        ("z2", Kind::F32),
        ("plate", Kind::Uint),
        ("material", Kind::Text),
    ];
    let len = || Ok(usize::try_from(g.armor_places().items).unwrap_or(usize::MAX));
    let table = Rows::new("armor_triangles", &columns, 12, len, |row, column| {
        let Some((place, number)) = g.armor_places().find(row as u64) else { return Ok(None) };
        let plate = Plate::at(g, place)?;
        let Some(triangle) = plate.triangles().get(number) else { return Ok(None) };
        Ok(Some(match column {
            0 => place.model.into(),
            1 => plate.header().material_id.get().into(),
            2 => plate.header().layer.get().into(),
            3..=11 => {
                let at = column.saturating_sub(3);
                triangle.get(at / 3).and_then(|v| v.position.get(at % 3)).map(|v| v.get()).into()
            }
            12 => place.number.into(),
            13 => material_name(plate.header().material_id.get()).into(),
            _ => return Ok(None),
        }))
    });
    let table = table.known_by(&["model", "material_id", "layer"]);
    table.walked(|| g.armor_places().damage.as_ref().map(Error::again))
}

fn collision_models(g: &Geometry) -> Rows<'_> {
    let columns = [
        ("index", Kind::Uint),
        ("name", Kind::Text),
        ("offset", Kind::Uint),
        ("size", Kind::Uint),
        ("hulls", Kind::Uint),
        ("content", Kind::Id64),
    ];
    let contents = LazyLock::new(move || content::all(g, Of::CollisionModels));
    Rows::new(
        "collision_models",
        &columns,
        5,
        || Ok(g.collision_prototypes()?.len()),
        move |row, column| {
            let m = g.collision_model(row)?;
            Ok(Some(match column {
                0 => row.into(),
                1 => m.name()?.into(),
                2 => m.span()?.0.into(),
                3 => m.span()?.1.into(),
                4 => m.hulls()?.stated().into(),
                5 => Value::Id64(content::cell(&contents, row)?),
                _ => return Ok(None),
            }))
        },
    )
    .known_by(&["name"])
}

fn collision_hulls(g: &Geometry) -> Rows<'_> {
    let columns = [
        ("model", Kind::Uint),
        ("index", Kind::Uint),
        ("vertices", Kind::Uint),
        ("edges", Kind::Uint),
        ("faces", Kind::Uint),
        ("min", Kind::Nested),
        ("max", Kind::Nested),
        ("offset", Kind::Uint),
    ];
    let table = Rows::new(
        "collision_hulls",
        &columns,
        5,
        || Ok(g.collision_places().all.len()),
        |row, column| {
            let Some(place) = g.collision_places().all.get(row) else { return Ok(None) };
            let hull = Hull::at(g, place)?;
            Ok(Some(match column {
                0 => place.model.into(),
                1 => place.number.into(),
                2 => hull.vertices().len().into(),
                3 => hull.edges().len().into(),
                4 => hull.face_count().into(),
                5 => hull.bounds().map_or(Value::Null, |(min, _)| Value::floats(min)),
                6 => hull.bounds().map_or(Value::Null, |(_, max)| Value::floats(max)),
                7 => hull.offset().into(),
                _ => return Ok(None),
            }))
        },
    );
    let table = table.known_by(&["model", "index"]);
    table.walked(|| g.collision_places().damage.as_ref().map(Error::again))
}

fn hull_vertices(g: &Geometry) -> Rows<'_> {
    let columns = [
        ("model", Kind::Uint),
        ("hull", Kind::Uint),
        ("index", Kind::Uint),
        ("x", Kind::F32),
        ("y", Kind::F32),
        ("z", Kind::F32),
    ];
    let len = || Ok(usize::try_from(g.collision_places().items).unwrap_or(usize::MAX));
    let table = Rows::new("hull_vertices", &columns, 6, len, |row, column| {
        let Some((place, number)) = g.collision_places().find(row as u64) else { return Ok(None) };
        let Some(corner) = Hull::corners_at(g, place)?.get(number) else { return Ok(None) };
        Ok(Some(match column {
            0 => place.model.into(),
            1 => place.number.into(),
            2 => number.into(),
            3..=5 => corner.get(column.saturating_sub(3)).map(|v| v.get()).into(),
            _ => return Ok(None),
        }))
    });
    let table = table.known_by(&["model", "hull", "index"]);
    table.walked(|| g.collision_places().damage.as_ref().map(Error::again))
}

/// Which rows of a table belong to which buffer.
#[derive(Debug)]
struct Starts {
    /// The first row of each buffer.
    first: Vec<u64>,
    total: u64,
}

impl Starts {
    /// `count` gives the rows of a buffer. One that is damaged has one row, so that its error is seen there.
    fn new(buffers: usize, count: impl Fn(usize) -> Result<usize>) -> Self {
        let mut total = 0u64;
        let start = |i| {
            let first = total;
            total = total.saturating_add(count(i).unwrap_or(1) as u64);
            first
        };
        Self { first: (0..buffers).map(start).collect(), total }
    }

    fn len(&self) -> usize {
        usize::try_from(self.total).unwrap_or(usize::MAX)
    }

    /// Which buffer has `row`, and the row's number in it.
    fn locate(&self, row: usize) -> Option<(usize, usize)> {
        let buffer = self.first.partition_point(|&s| s <= row as u64).checked_sub(1)?;
        let start = usize::try_from(*self.first.get(buffer)?).ok()?;
        Some((buffer, row.checked_sub(start)?)).filter(|_| (row as u64) < self.total)
    }
}

fn vertices(g: &Geometry) -> Rows<'_> {
    let columns = [
        ("buffer", Kind::Uint),
        ("index", Kind::Uint),
        ("x", Kind::F32),
        ("y", Kind::F32),
        ("z", Kind::F32),
        ("nx", Kind::F32),
        ("ny", Kind::F32),
        ("nz", Kind::F32),
        ("u", Kind::F32),
        ("v", Kind::F32),
        ("u2", Kind::F32),
        ("v2", Kind::F32),
        ("tangent", Kind::Nested),
        ("binormal", Kind::Nested),
        ("bones", Kind::Nested),
        ("weights", Kind::Nested),
        ("radius", Kind::F32),
        ("id", Kind::Uint),
        ("colour", Kind::Nested),
    ];
    let starts = Arc::new(LazyLock::new(move || {
        Starts::new(g.vertices_prototypes().map_or(0, <[_]>::len), |i| {
            let buffer = g.vertex_buffer(i)?;
            buffer.size()?;
            buffer.count()
        })
    }));
    let of_len = Arc::clone(&starts);
    let len = move || g.vertices_prototypes().map(|_| of_len.len());
    Rows::new("vertices", &columns, 10, len, move |row, column| {
        let Some((buffer, index)) = starts.locate(row) else { return Ok(None) };
        match column {
            0 => return Ok(Some(buffer.into())),
            1 => return Ok(Some(index.into())),
            _ => {}
        }
        let Some(vertex) = g.vertices(buffer)?.slice(index, 1) else { return Ok(None) };
        let part = |v: Option<[f32; 3]>, at: usize| v.and_then(|v| v.get(at).copied());
        let pair = |v: Option<[f32; 2]>, at: usize| v.and_then(|v| v.get(at).copied());
        let bytes = |v: Option<&[u8]>| v.map_or(Value::Null, |v| Value::List(v.iter().map(|&b| b.into()).collect()));
        let position = || vertex.positions().and_then(|mut v| v.next());
        let normal = || vertex.normals().and_then(|mut v| v.next());
        Ok(Some(match column {
            2..=4 => part(position(), column.saturating_sub(2)).into(),
            5..=7 => part(normal(), column.saturating_sub(5)).into(),
            8 | 9 => pair(vertex.uvs().and_then(|mut v| v.next()), column.saturating_sub(8)).into(),
            10 | 11 => pair(vertex.uv2s().and_then(|mut v| v.next()), column.saturating_sub(10)).into(),
            12 => vertex.tangents().and_then(|mut v| v.next()).map_or(Value::Null, Value::floats),
            13 => vertex.binormals().and_then(|mut v| v.next()).map_or(Value::Null, Value::floats),
            14 => bytes(vertex.bone_indices().and_then(|mut v| v.next()).as_ref().map(|v| v.as_slice())),
            15 => bytes(vertex.weights().and_then(|mut v| v.next()).as_ref().map(|v| v.as_slice())),
            16 => vertex.radii().and_then(|mut v| v.next()).into(),
            17 => vertex.ids().and_then(|mut v| v.next()).into(),
            18 => bytes(vertex.colours().and_then(|mut v| v.next()).as_ref().map(|v| v.as_slice())),
            _ => return Ok(None),
        }))
    })
    .known_by(&["buffer", "index"])
}

fn triangles(g: &Geometry) -> Rows<'_> {
    let columns =
        [("buffer", Kind::Uint), ("index", Kind::Uint), ("a", Kind::Uint), ("b", Kind::Uint), ("c", Kind::Uint)];
    let starts = Arc::new(LazyLock::new(move || {
        Starts::new(g.indices_prototypes().map_or(0, <[_]>::len), |i| {
            let buffer = g.index_buffer(i)?;
            buffer.size()?;
            Ok(buffer.count()? / 3)
        })
    }));
    let of_len = Arc::clone(&starts);
    let len = move || g.indices_prototypes().map(|_| of_len.len());
    Rows::new("triangles", &columns, 5, len, move |row, column| {
        let Some((buffer, index)) = starts.locate(row) else { return Ok(None) };
        let at = index.saturating_mul(3).saturating_add(column.saturating_sub(2));
        Ok(Some(match column {
            0 => buffer.into(),
            1 => index.into(),
            2..=4 => match g.indices(buffer)?.get(at) {
                Some(index) => index.into(),
                None => return Ok(None),
            },
            _ => return Ok(None),
        }))
    })
    .known_by(&["buffer", "index"])
}

/// What `info` shows besides sections and tables.
pub(super) fn facts(g: &Geometry) -> Vec<(Cow<'static, str>, Value<'_>)> {
    let sections = g.sections();
    let unmapped: Vec<Value<'_>> = sections
        .iter()
        .filter(|s| s.name == "unmapped")
        .map(|s| Value::Map(vec![("offset".into(), Value::Uint(s.offset)), ("size".into(), Value::Uint(s.size))]))
        .collect();
    let unknown: Vec<Value<'_>> = (0..g.vertices_prototypes().map_or(0, <[_]>::len))
        .filter_map(|i| Some((i, g.vertex_buffer(i).ok()?.format().ok()?)))
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

/// Shows `entry`: a mapping id (`0x…`), the name of a model, or a table and a row (`vertex_buffers/0`).
pub(super) fn cat(g: &Geometry, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
    if let Some((table, row)) = entry.rsplit_once('/')
        && let Some(table) = g.table(table)
        && let Ok(row) = row.parse::<usize>()
    {
        if row >= table.len()? {
            return Ok(false);
        }
        show_row(table.as_ref(), row, out)?;
        return Ok(true);
    }
    if let Some(id) = id::parse32(entry)
        && show_mapping(g, id, out)?
    {
        return Ok(true);
    }
    for table in ["armor_models", "collision_models"] {
        let Some(table) = g.table(table) else { continue };
        for row in 0..table.len()? {
            if !entry.is_empty() && table.value(row, 1)?.as_text().as_deref() == Some(entry) {
                show_row(table.as_ref(), row, out)?;
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn show_row(table: &dyn Table, row: usize, out: &mut dyn Visitor) -> Result<()> {
    out.begin_map()?;
    let mut first_error = None;
    for (i, column) in table.columns().iter().enumerate() {
        match table.value(row, i) {
            Ok(value) => out.field(&column.name, &value)?,
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    out.end_map()?;
    first_error.map_or(Ok(()), Err)
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
            show_row(table.as_ref(), row, out)?;
        }
    }
    out.key("render_groups")?;
    out.begin_list()?;
    let is_of = |group: &Group| Some(group.vertices) == vertices || Some(group.indices) == indices;
    let groups = g.groups();
    if let (Ok(groups), Some(table)) = (&groups, g.table("render_groups")) {
        for (row, _) in groups.groups.iter().enumerate().filter(|(_, group)| is_of(group)) {
            show_row(table.as_ref(), row, out)?;
        }
    }
    out.end_list()?;
    out.end_map()?;
    groups.map(|_| true)
}
