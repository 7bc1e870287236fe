//! Edits of `.geometry` files (docs/formats/geometry.md §9): ids and materials in place, and meshes whose buffers are
//! packed again.

use super::Geometry;
use super::content::turned;
use super::encd;
use super::export::back::{Fixed, Mesh, meshes};
use super::export::lay::lay;
use super::export::levels;
use super::layout::Mapping;
use super::mesh::{Group, Pairing};
use crate::bytes::{View, le};
use crate::error::{Error, ErrorKind, Result};
use crate::pointers::repointed;
use crate::reader::Reader as _;
use crate::scene::glb::read::{Glb, plain};
use crate::source::Source;
use crate::table::{Table, Value};
use crate::writable::patches::Patches;
use crate::writable::{EntryEdit, Pieces, ReadBack, TableEdits, Writable, refused};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A range of the file, and its replacement.
type Stretch = (Range<usize>, Vec<u8>);

/// Replaced items of a buffer.
struct Slice<'n, T> {
    range: Range<usize>,
    /// The mappings that get the new items.
    mappings: Vec<usize>,
    new: &'n [T],
    /// Whether other mappings keep items of the range, so that the new items go to the end of the buffer.
    is_copy: bool,
}

impl<T> Slice<'_, T> {
    /// The number of new items, of `width` elements each.
    fn items(&self, width: usize) -> usize {
        self.new.len().checked_div(width).expect("vertices with a stride of 0 are not read")
    }
}

impl Writable for Geometry {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        let mut patches = Patches::default();
        for edits in edits {
            if !edits.add.is_empty() || !edits.remove.is_empty() {
                return Err(refused(format!("rows of {} can neither be added nor removed", edits.table)));
            }
            match self.table(&edits.table) {
                Some(table) => self.set(&*table, edits, &mut patches)?,
                None => return Err(refused(format!("{}: rows of this table are not written", edits.table))),
            }
        }
        let mut pieces = Pieces::replaced(self.source.bytes().len(), patches.into_stretches())?;
        pieces.read_back = ReadBack::Rows;
        // They show the ids and the materials, too, or hash the bytes that have them.
        pieces.also = ["armor_models", "armor_triangles", "render_groups"].map(str::to_owned).into();
        Ok(pieces)
    }

    fn entry(&self, entry: &str, new: &Value<'static>) -> Result<Option<EntryEdit>> {
        let Some(id) = crate::id::parse32(entry) else { return Ok(None) };
        Ok(super::tables::mapping_edits(self, id, new)?.map(EntryEdit::Edits))
    }

    fn with_meshes(&self, glb: &[u8]) -> Result<Option<Pieces>> {
        let glb = Glb::parse(glb)?;
        let meshes = meshes(&glb)?;
        let (mut vertices, mut indices) = (BTreeMap::new(), BTreeMap::new());
        let (mut left_out, mut notes, fixed) = (Vec::new(), Vec::new(), Fixed::default());
        let (mut met, mut others, mut is_named_here) = (BTreeSet::new(), BTreeSet::new(), true);
        for (mesh, group) in meshes.iter().zip(self.groups_of_meshes(&meshes)?) {
            let Some(group) = group else {
                match mesh.origin.as_ref().and_then(|origin| origin.geometry.as_deref()) {
                    Some(other) if other != self.source.stem() => drop(others.insert(other)),
                    _ if fixed.has(self, &glb, mesh) => {}
                    _ => {
                        let what = "no render group of this file has its name or its ids; others are not written";
                        left_out.push(format!("mesh {:?} is left out: {what}", mesh.name));
                    }
                }
                continue;
            };
            let change = lay(self, &group, &glb, mesh)?;
            left_out.extend(change.left_out);
            notes.extend(change.notes);
            is_named_here &= mesh.is_named(&group.name);
            met.insert((group.vertices, group.indices));
            insert_new(&mut vertices, group.vertices, change.vertices, mesh.name)?;
            insert_new(&mut indices, group.indices, change.indices, mesh.name)?;
        }
        if vertices.is_empty() {
            let names: Vec<String> = meshes.iter().map(|mesh| format!("{:?}", mesh.name)).collect();
            let names = if names.is_empty() { "absent".to_owned() } else { names.join(", ") };
            return Err(refused(format!("no mesh of the GLB is a render group of this file; its meshes are {names}")));
        }
        notes.extend(self.absent(&glb, &met, is_named_here)?);
        if !others.is_empty() {
            let others: Vec<&str> = others.into_iter().collect();
            notes.push(format!("meshes of other geometries are not written here: {}", others.join(", ")));
        }
        let vertices = vertices.into_iter().filter_map(|(mapping, new)| Some((mapping, new?))).collect();
        let indices = indices.into_iter().filter_map(|(mapping, new)| Some((mapping, new?))).collect();
        let mut pieces = self.rebuilt(&vertices, &indices)?;
        (pieces.left_out, pieces.notes) = (left_out, notes);
        Ok(Some(pieces))
    }
}

impl Geometry {
    /// Writes edits of mappings and plates, in the fields of their columns.
    fn set(&self, table: &dyn Table, edits: &TableEdits, patches: &mut Patches) -> Result<()> {
        patches.set(table.columns(), edits, |row| match &*edits.table {
            "vertex_mappings" => Ok(self.view("mapping").locate(super::get(self.vertex_mappings()?, row, "mapping")?)),
            "index_mappings" => Ok(self.view("mapping").locate(super::get(self.index_mappings()?, row, "mapping")?)),
            _ => {
                let plate = super::get(&self.armor_places().all, row / self.rows_of_plate(), "plate")?;
                Ok(self.view("plate").at(plate.position))
            }
        })
    }

    /// The group that each mesh was written from. A mesh whose name another program has numbered is a copy, if the mesh without the number
    /// is there, too.
    fn groups_of_meshes(&self, meshes: &[Mesh<'_>]) -> Result<Vec<Option<Group>>> {
        let mut found = meshes.iter().map(|mesh| self.group_of(mesh, |name| name)).collect::<Result<Vec<_>>>()?;
        let taken: BTreeSet<_> = found.iter().flatten().map(|group| (group.vertices, group.indices)).collect();
        for (mesh, found) in meshes.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            let group = self.group_of(mesh, plain)?;
            *found = group.filter(|group| !taken.contains(&(group.vertices, group.indices)));
        }
        Ok(found)
    }

    /// The group that a mesh was written from: by its stated ids, or else by its name or that of its node.
    fn group_of(&self, mesh: &Mesh<'_>, plain: fn(&str) -> &str) -> Result<Option<Group>> {
        let stated = mesh.origin.as_ref();
        if stated.and_then(|origin| origin.geometry.as_deref()).is_some_and(|stem| stem != self.source.stem()) {
            return Ok(None);
        }
        let groups = &self.groups()?.groups;
        if let Some((vertices, indices)) = stated.and_then(|origin| origin.ids()) {
            let both = self.vertex_mapping(vertices)?.zip(self.index_mapping(indices)?);
            return Ok(both.map(|(vertices, indices)| {
                let known = groups.iter().find(|group| (group.vertices, group.indices) == (vertices, indices));
                let unnamed = || Group::new(mesh.name.to_owned(), vertices, indices, Pairing::RenderSet);
                known.cloned().unwrap_or_else(unnamed)
            }));
        }
        for name in [Some(mesh.name), mesh.object].into_iter().flatten().map(plain) {
            if let Some(group) = groups.iter().find(|group| group.name == name) {
                return Ok(Some(group.clone()));
            }
            // The mesh may have been named with files that are not at hand now, or without files that are.
            let [vertices, indices] = ["vertices", "indices"].map(|of| crate::id::of_name(&format!("{name}.{of}")));
            if let Some((vertices, indices)) = self.vertex_mapping(vertices)?.zip(self.index_mapping(indices)?) {
                let known = groups.iter().find(|group| (group.vertices, group.indices) == (vertices, indices));
                let unnamed = || Group::new(name.to_owned(), vertices, indices, Pairing::RenderSet);
                return Ok(Some(known.cloned().unwrap_or_else(unnamed)));
            }
            if let Some(indices) = super::mesh::unnamed_id(name)
                && let Some(indices) = self.index_mapping(indices)?
                && let Some(group) = groups.iter().find(|group| group.indices == indices)
            {
                return Ok(Some(group.clone()));
            }
        }
        Ok(None)
    }

    /// Names the groups without a mesh, of the levels of detail that the GLB has. Meshes that a database named have levels that are not
    /// guessed here.
    fn absent(&self, glb: &Glb<'_>, met: &BTreeSet<(usize, usize)>, is_named_here: bool) -> Result<Option<String>> {
        let groups = self.groups()?;
        if groups.groups.iter().all(|group| met.contains(&(group.vertices, group.indices))) {
            return Ok(None);
        }
        let levels: Vec<Option<BTreeSet<usize>>> = levels::of_groups(self, groups, is_named_here)
            .into_iter()
            .map(|levels| levels.map(|levels| levels.into_iter().collect()))
            .collect();
        let (there, absent): (Vec<_>, Vec<_>) = groups
            .groups
            .iter()
            .zip(&levels)
            .filter_map(|(group, levels)| Some((group, levels.as_ref()?)))
            .partition(|(group, _)| met.contains(&(group.vertices, group.indices)));
        // A GLB has all levels, or one that all of its meshes have.
        let mut stated = there.iter().map(|(_, levels)| *levels).filter(|levels| !levels.is_empty());
        let common = stated.next().map(|first| stated.fold(first.clone(), |common, levels| &common & levels));
        let one = common.and_then(|common| common.first().copied()).filter(|_| !glb.has_levels());
        let absent =
            absent.iter().filter(|(_, levels)| levels.is_empty() || one.is_none_or(|level| levels.contains(&level)));
        let names: Vec<&str> = absent.map(|(group, _)| group.name.as_str()).collect();
        let what = "groups without a mesh in the GLB keep their vertices, which another mesh may show, too";
        Ok((!names.is_empty()).then(|| format!("{what}: {}", names.join(", "))))
    }

    /// The file with the vertices and indices of these mappings replaced.
    fn rebuilt(&self, vertices: &BTreeMap<usize, Vec<u8>>, indices: &BTreeMap<usize, Vec<u32>>) -> Result<Pieces> {
        let length = self.source.bytes().len();
        if vertices.is_empty() && indices.is_empty() {
            return Ok(Pieces::whole(length));
        }
        let (mut patches, mut blobs) = (Patches::default(), Vec::<Stretch>::new());
        self.rebuild_vertices(vertices, &mut patches, &mut blobs)?;
        self.rebuild_indices(indices, &mut patches, &mut blobs)?;
        blobs.sort_by_key(|(range, _)| range.start);
        self.check_alone(&blobs)?;
        self.repoint(&blobs, &mut patches)?;
        let mut stretches: Vec<Stretch> = patches.into_stretches().chain(blobs).collect();
        stretches.sort_by_key(|(range, _)| range.start);
        let pieces = Pieces::replaced(length, stretches)?;
        self.check_decoded(&pieces, vertices, indices)?;
        Ok(pieces)
    }

    fn rebuild_vertices(
        &self,
        new: &BTreeMap<usize, Vec<u8>>,
        patches: &mut Patches,
        blobs: &mut Vec<Stretch>,
    ) -> Result<()> {
        let mappings = self.vertex_mappings()?;
        for (buffer, changed) in by_buffer(mappings, new)? {
            let of = self.vertex_buffer(buffer)?;
            let stride = of.stride();
            let mut bytes = self.vertex_bytes(buffer)?.to_vec();
            let len = bytes.len().checked_div(stride).expect("vertices with a stride of 0 are not read");
            self.move_mappings("vertices", mappings, buffer, &changed, (len, stride), patches)?;
            for Slice { range, new, .. } in in_place(&changed).rev() {
                splice(&mut bytes, range.start.saturating_mul(stride)..range.end.saturating_mul(stride), new)?;
            }
            copies(&changed).for_each(|copy| bytes.extend_from_slice(copy.new));
            let stored = match of.encoded()? {
                Some(old) => {
                    packed(bytes.len().checked_div(stride), encd::encode_vertices(&bytes, stride, old.payload))
                }
                None => Ok(bytes),
            };
            let stored = stored.map_err(|kind| Error::of_part(kind, format!("vertex buffer {buffer}")))?;
            patches.put_field(self.view("vertices"), &of.prototype().size_in_bytes, &size(&stored)?)?;
            blobs.push((self.place(of.stored()?), stored));
        }
        Ok(())
    }

    fn rebuild_indices(
        &self,
        new: &BTreeMap<usize, Vec<u32>>,
        patches: &mut Patches,
        blobs: &mut Vec<Stretch>,
    ) -> Result<()> {
        let mappings = self.index_mappings()?;
        for (buffer, changed) in by_buffer(mappings, new)? {
            let of = self.index_buffer(buffer)?;
            let width = of.index_size()?;
            let mut all: Vec<u32> = self.indices(buffer)?.iter().collect();
            self.move_mappings("indices", mappings, buffer, &changed, (all.len(), 1), patches)?;
            for Slice { mappings, new, .. } in &changed {
                if width == 2
                    && let Some(large) = new.iter().find(|index| **index > 0xFFFF)
                {
                    let mapping = mappings.first().expect("some mapping gets the items");
                    let what = "indices of this file have 16 bits, so that a group has 65536 vertices at most";
                    return Err(refused(format!("index mapping {mapping}: index {large} does not fit: {what}")));
                }
            }
            for Slice { range, new, .. } in in_place(&changed).rev() {
                splice(&mut all, range.clone(), new)?;
            }
            copies(&changed).for_each(|copy| all.extend_from_slice(copy.new));
            let stored = match of.encoded()? {
                Some(old) => packed(Some(all.len()), encd::encode_indices(&all, old.payload)),
                None => Ok(all.iter().flat_map(|i| i.to_le_bytes().into_iter().take(width)).collect()),
            };
            let stored = stored.map_err(|kind| Error::of_part(kind, format!("index buffer {buffer}")))?;
            patches.put_field(self.view("indices"), &of.prototype().size_in_bytes, &size(&stored)?)?;
            blobs.push((self.place(of.stored()?), stored));
        }
        Ok(())
    }

    /// The new position of bytes of the file.
    fn place(&self, bytes: &[u8]) -> Range<usize> {
        let start = self.view("data").locate(bytes).position();
        start..start.saturating_add(bytes.len())
    }

    /// Writes the ranges of all mappings of a buffer of `len` items after some of them changed. Each item has `width` elements.
    fn move_mappings<T>(
        &self,
        what: &str,
        mappings: &[Mapping],
        buffer: usize,
        changed: &[Slice<'_, T>],
        (len, width): (usize, usize),
        patches: &mut Patches,
    ) -> Result<()> {
        let mut ranges: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let mut end = new_start(changed, &(len..usize::MAX), width);
        for slice in changed {
            let (start, count) = (new_start(changed, &slice.range, width), slice.items(width));
            let start = if slice.is_copy { end } else { start };
            ranges.extend(slice.mappings.iter().map(|mapping| (*mapping, (start, count))));
            end = end.saturating_add(if slice.is_copy { count } else { 0 });
        }
        for (number, mapping) in mappings.iter().enumerate() {
            if usize::from(mapping.merged_buffer_index.get()) != buffer {
                continue;
            }
            let own = range_of(mapping);
            let new = ranges.get(&number).copied();
            let (start, count) = new.unwrap_or_else(|| (new_start(changed, &own, width), own.len()));
            for (field, old, new) in
                [(&mapping.items_offset, own.start, start), (&mapping.items_count, own.len(), count)]
            {
                let number = u32::try_from(new).map_err(|_| refused(format!("more than 2^32 {what}")))?;
                if old != new {
                    patches.put_field(self.view("mappings"), field, &number.to_le_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Checks that data with a new length is not shared.
    fn check_alone(&self, blobs: &[Stretch]) -> Result<()> {
        let sections = self.pieces();
        for (range, _) in blobs {
            let (start, end) = (range.start as u64, range.end as u64);
            let met = sections.iter().filter(|s| s.offset < end && start < s.offset.saturating_add(s.size));
            if met.count() > 1 {
                return Err(Error::new(
                    ErrorKind::damaged("its data lie on other parts of the file, so that it cannot get another size"),
                    "buffer",
                    range.start as u64,
                ));
            }
        }
        Ok(())
    }

    /// Updates every pointer to a moved target.
    fn repoint(&self, blobs: &[Stretch], patches: &mut Patches) -> Result<()> {
        let view = self.view("header");
        let header = self.header()?;
        // Each pointer, with the position that it counts from.
        let arrays = header.arrays().map(|array| (view.locate(header), array.pointer));
        let mut fields: Vec<(View<'_>, &le::I64)> = arrays.to_vec();
        for prototype in self.vertices_prototypes()? {
            fields.push((view.locate(prototype), &prototype.vertices_data));
            fields.push((view.locate(&prototype.format_name), &prototype.format_name.text));
        }
        for prototype in self.indices_prototypes()? {
            fields.push((view.locate(prototype), &prototype.indices_data));
        }
        for prototype in self.collision_prototypes()?.iter().chain(self.armor_prototypes()?) {
            fields.push((view.locate(&prototype.name), &prototype.name.text));
            fields.push((view.locate(prototype), &prototype.data));
        }
        let pointers =
            fields.into_iter().map(|(base, pointer)| (view.locate(pointer).position(), base.position(), pointer.get()));
        repointed(pointers, |at| moved(blobs, at), |at, new| patches.write_at(at, &new.to_le_bytes()))
    }

    /// Decodes what was written, and compares it with what was to be.
    fn check_decoded(
        &self,
        pieces: &Pieces,
        vertices: &BTreeMap<usize, Vec<u8>>,
        indices: &BTreeMap<usize, Vec<u32>>,
    ) -> Result<()> {
        let new = Self::open(Source::from_vec(self.source.name(), pieces.bytes(self.source.bytes())))?;
        for mapping in 0..self.vertex_mappings()?.len() {
            let wanted = match vertices.get(&mapping) {
                Some(bytes) => Ok(bytes.as_slice()),
                None => self.mapped_vertex_bytes(mapping),
            };
            if wanted.is_ok_and(|wanted| new.mapped_vertex_bytes(mapping).ok() != Some(wanted)) {
                return Err(differs_from_written("vertices", mapping));
            }
        }
        for mapping in 0..self.index_mappings()?.len() {
            let wanted: Vec<u32> = match indices.get(&mapping) {
                Some(indices) => indices.clone(),
                None => match self.mapped_indices(mapping) {
                    Ok(indices) => indices.iter().collect(),
                    Err(_) => continue,
                },
            };
            let written: Vec<u32> = new.mapped_indices(mapping)?.iter().collect();
            // The codec may rotate the corners of a triangle.
            let [old, new] = [&wanted, &written].map(|all| all.as_chunks().0.iter().copied().map(turned));
            if !old.eq(new) || wanted.len() != written.len() {
                return Err(differs_from_written("indices", mapping));
            }
        }
        Ok(())
    }
}

/// Notes the new items of a mapping, if they change. Several meshes may share the mapping, if their items are the same.
fn insert_new<T: PartialEq>(all: &mut BTreeMap<usize, T>, mapping: usize, new: T, mesh: &str) -> Result<()> {
    if all.get(&mapping).is_some_and(|before| *before != new) {
        let what = "two meshes were written from the same vertices or indices, and have others now";
        return Err(refused(format!("mesh {mesh:?}: {what}")));
    }
    all.insert(mapping, new);
    Ok(())
}

/// The new position of a position in the old file.
fn moved(blobs: &[Stretch], at: usize) -> usize {
    let behind = blobs.iter().filter(|(range, _)| range.end <= at && !range.is_empty());
    behind.fold(at, |at, (range, new)| at.saturating_add(new.len()).saturating_sub(range.len()))
}

fn differs_from_written(what: &str, mapping: usize) -> Error {
    let what = format!("{what} of mapping {mapping} would not decode as they were written");
    Error::of_part(ErrorKind::damaged(what), "read back")
}

/// The items of a mapping in its buffer.
fn range_of(mapping: &Mapping) -> Range<usize> {
    let start = mapping.items_offset.get() as usize;
    start..start.saturating_add(mapping.items_count.get() as usize)
}

/// The new items of mappings, by their buffers and in the order of the items that they replace. Mappings that share items and get
/// equal ones still share them.
fn by_buffer<'n, T: Ord>(
    mappings: &[Mapping],
    changed: &'n BTreeMap<usize, Vec<T>>,
) -> Result<BTreeMap<usize, Vec<Slice<'n, T>>>> {
    let mut alike: BTreeMap<(usize, usize, usize, &'n [T]), Vec<usize>> = BTreeMap::new();
    for (&number, new) in changed {
        let mapping = super::get(mappings, number, "mapping")?;
        let range = range_of(mapping);
        let key = (mapping.merged_buffer_index.get().into(), range.start, range.end, new.as_slice());
        alike.entry(key).or_default().push(number);
    }
    let mut all: BTreeMap<usize, Vec<Slice<'n, T>>> = BTreeMap::new();
    for ((buffer, start, end, new), of) in alike {
        let is_copy = mappings.iter().enumerate().any(|(number, mapping)| {
            let own = range_of(mapping);
            usize::from(mapping.merged_buffer_index.get()) == buffer
                && of.binary_search(&number).is_err()
                && (own == (start..end) || (own.start < end && start < own.end))
        });
        all.entry(buffer).or_default().push(Slice { range: start..end, mappings: of, new, is_copy });
    }
    Ok(all)
}

/// The new position of the items in `range`, after the items before them are replaced.
fn new_start<T>(slices: &[Slice<'_, T>], range: &Range<usize>, width: usize) -> usize {
    let before = in_place(slices).filter(|slice| slice.range.end <= range.start && slice.range != *range);
    before.fold(range.start, |at, slice| at.saturating_add(slice.items(width)).saturating_sub(slice.range.len()))
}

fn in_place<'s, 'n, T>(slices: &'s [Slice<'n, T>]) -> impl DoubleEndedIterator<Item = &'s Slice<'n, T>> {
    slices.iter().filter(|slice| !slice.is_copy)
}

fn copies<'s, 'n, T>(slices: &'s [Slice<'n, T>]) -> impl Iterator<Item = &'s Slice<'n, T>> {
    slices.iter().filter(|slice| slice.is_copy)
}

/// Replaces a range of items.
fn splice<T: Copy>(all: &mut Vec<T>, range: Range<usize>, new: &[T]) -> Result<()> {
    if range.start > range.end || range.end > all.len() {
        return Err(Error::of_part(ErrorKind::damaged("a mapping leaves its buffer"), "mappings"));
    }
    all.splice(range, new.iter().copied());
    Ok(())
}

/// A packed blob: its header and the codec's payload.
fn packed(count: Option<usize>, payload: Result<Vec<u8>, ErrorKind>) -> Result<Vec<u8>, ErrorKind> {
    let limit = ErrorKind::Limit { what: "items of a buffer", value: u64::MAX, limit: u32::MAX.into() };
    let count = count.and_then(|count| u32::try_from(count).ok()).ok_or(limit)?;
    Ok([&encd::MAGIC.to_le_bytes()[..], &count.to_le_bytes(), &payload?].concat())
}

fn size(stored: &[u8]) -> Result<Vec<u8>> {
    let size = u32::try_from(stored.len()).map_err(|_| refused("a buffer of 4 GiB does not fit"))?;
    Ok(size.to_le_bytes().to_vec())
}
