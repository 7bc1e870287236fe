//! Edits of `models.bin` and `space.bin`.

use super::super::lists::{RowTarget, list_named};
use super::super::prototypes as p;
use super::super::record::{Field as _, FieldInfo, Form, PathId, Text, Type};
use super::super::space::ARRAYS;
use super::super::tables::field_of;
use super::super::{Models, Space, layout, verify};
use super::Refuse;
use super::area::{Area, EditedPosition, To, Writer};
use super::job::{Job, column_name, rearranges, table};
use super::records::Records;
use super::{Changes, is_stored, items, named, no_rows};
use crate::bytes::{PackedString, View, le};
use crate::error::{Error, Result};
use crate::source::Source;
use crate::table::{Table, Value, column_index, no_cell};
use crate::writable::patches::Patches;
use crate::writable::{
    Check, ColumnValues, EditPosition, Lists, Piece, Pieces, TableEdits, Writable, cell, cell_named, refused,
};
use std::mem::offset_of;
use std::ops::Range;

const MODELS: &str = "models";
const INSTANCES: &str = "instances";
/// The column with the number of a model's skeleton.
const SKELETON: &str = "skeleton_index";
/// The tables of what models have.
const LISTS: [&str; 3] = ["render_sets", "lods", "dyes"];

/// The initial bytes of an inserted model.
static EMPTY: [u8; Models::MODEL_SIZE] = [0; Models::MODEL_SIZE];

/// The pieces of a file without databases. It grows at its end, without any unreferenced byte.
fn at_end(length: usize, patches: Patches, area: Area<'_>) -> Result<Pieces> {
    let in_place = area.new.is_empty() && area.array.is_none();
    let mut stretches: Vec<(Range<usize>, Vec<u8>)> = patches.into_stretches().collect();
    stretches.extend(area.array.map(Records::into_stretch));
    stretches.sort_by_key(|(range, _)| (range.start, range.end));
    stretches.extend((!area.new.is_empty()).then_some((length..length, area.new)));
    let mut pieces = Pieces::replaced(length, stretches)?;
    pieces.check = if in_place { Check::Rows } else { Check::All };
    Ok(pieces)
}

impl Writable for Models {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        let (mut changes, mut area) = (Changes::default(), self.area());
        let refuse: Refuse<'_> = &mut |_, error| Err(error);
        area.array = self.records(edits, refuse)?;
        edits.iter().try_for_each(|edits| self.rows(edits, &mut changes, &mut area, refuse))?;
        if let Some(records) = &area.array {
            self.repoint(records, &mut changes.patches)?;
        }
        let mut pieces = self.without_tail(at_end(self.source().bytes().len(), changes.patches, area)?)?;
        (pieces.follows, pieces.added) = (changes.follows, changes.added);
        // Their rows are identified by the ids of the models, which determine their number.
        pieces.also = ["models", "render_sets", "lods", "dyes"].map(str::to_owned).into();
        Ok(pieces)
    }

    fn refusals(&self, edits: &TableEdits) -> Result<Vec<(EditPosition, Error)>> {
        named(|refuse| {
            let mut area = self.area();
            area.array = self.records(std::slice::from_ref(edits), refuse)?;
            // The owner of a list may be inserted by edits of another table.
            let owners = edits.add.iter().filter_map(|set| match set.first() {
                Some((0, Value::Uint(number))) => usize::try_from(*number).ok()?.checked_sub(self.len()),
                _ => None,
            });
            if edits.table != MODELS
                && let Some(most) = owners.filter(|at| *at <= usize::from(u16::MAX)).max()
            {
                let new = vec![0; most.saturating_add(1).saturating_mul(Self::MODEL_SIZE)];
                area.array = Some(Records { new, ..self.all_records() });
            }
            self.rows(edits, &mut Changes::default(), &mut area, refuse)
        })
    }

    fn settle(&self, edits: &mut Vec<TableEdits>) -> Result<()> {
        self.lists_that_go(edits)?;
        items::settle(self, edits, |table| Some((Self::lists_of(table)?, "models")))
    }

    /// Rows of tables below models are known by the ids of their models.
    fn keying(&self) -> Option<&'static str> {
        Some("models")
    }
}

impl Models {
    /// The record and the structs in it whose fields are columns, with their positions.
    fn parts() -> [(&'static Type, usize); 3] {
        let of = p::MergedModel::OF;
        let [model, visual] = ["model", "visual"].map(|name| {
            let FieldInfo { of, at, .. } = *of.field(of.field_named(name).expect("a merged model declares both"));
            (of, at)
        });
        [(of, 0), model, visual]
    }

    /// The pieces without the bytes at the end that nothing refers to any more, where there were none before: a file ends with what
    /// its records point to.
    fn without_tail(&self, pieces: Pieces) -> Result<Pieces> {
        let old = self.source();
        let new = Source::from_vec(old.name(), pieces.bytes(old.bytes()));
        let end = verify::end_of_models(&Self::open(new)?);
        if end >= pieces.len() || verify::end_of_models(self) < old.bytes().len() {
            return Ok(pieces);
        }
        let mut cut = Pieces::new();
        cut.check = pieces.check;
        for piece in pieces.list() {
            let left = end.saturating_sub(cut.len());
            match piece {
                Piece::Keep(range) => cut.keep(range.start..range.end.min(range.start.saturating_add(left))),
                Piece::New(bytes) => cut.put(bytes.split_at(left.min(bytes.len())).0),
            }
        }
        Ok(cut)
    }

    /// The rows of a table of what models and skeletons have.
    fn lists_of(table: &str) -> Option<RowTarget> {
        match list_named(p::MergedModel::OF, table)? {
            // Skeletons of the file.
            RowTarget::Nodes { .. } => Some(RowTarget::Nodes { at: 0 }),
            rows => Some(rows),
        }
    }

    /// The area that the records point to.
    fn area(&self) -> Area<'_> {
        let (file, models) = (self.source().view(""), self.len());
        let records = models.saturating_add(self.skeleton_count());
        Area::new(file, 0..file.data().len(), records, move |record, ranges| {
            let (of, view) = match record.checked_sub(models) {
                None => (p::MergedModel::OF, self.model(record).map(|model| model.view())),
                Some(record) => (p::Skeleton::OF, self.skeleton(record).map(|skeleton| skeleton.view())),
            };
            view.into_iter().for_each(|view| of.walk_fields(view, ranges));
        })
    }

    /// Writes the edits of one table.
    fn rows<'a>(
        &'a self,
        edits: &TableEdits,
        changes: &mut Changes<'a>,
        area: &mut Area<'a>,
        refuse: Refuse<'_>,
    ) -> Result<()> {
        let rows = Self::lists_of(&edits.table);
        let table = table(self, &edits.table)?;
        let mut job = Job { table: &*table, patches: &mut changes.patches, follows: &mut changes.follows };
        let kept = area.array.as_ref().map_or(self.len(), |of| of.kept);
        if edits.table == MODELS {
            for (number, cells) in edits.add.iter().enumerate() {
                let to = To::Record(number.saturating_mul(Self::MODEL_SIZE));
                let what = format!("models: the inserted row with number {}", kept.saturating_add(number));
                let out = Writer { patches: job.patches, area, what };
                self.fresh(out, to, &*table, cells).or_else(|error| refuse(EditPosition::Add(number), error))?;
            }
        }
        let lists = Lists::of(&*table, edits, |set| rows.is_some_and(|rows| rearranges(rows, &*table, set)))?;
        for ((number, list), rows) in lists.0.iter().zip(rows.into_iter().cycle()) {
            // The parts of a deleted model are deleted, too.
            let goes = !matches!(rows, RowTarget::Nodes { .. }) && (kept..self.len()).contains(number);
            if !goes {
                let owner = self.owner(area, rows, *number, &edits.table)?;
                job.list(area, owner, rows, edits, list, refuse)?;
            }
        }
        if !edits.add.is_empty() && rows.is_some() {
            changes.added.push((edits.table.clone(), lists.added(edits)));
        }
        for (row, cells) in &edits.set {
            let number = job.number(*row, column_name(&*table, 0));
            if number.as_ref().is_ok_and(|number| lists.0.contains_key(number)) {
                continue;
            }
            job.attempt(area, *row, refuse, |job, area| match rows {
                Some(rows) => job.row(area, self.owner(area, rows, number?, &edits.table)?, rows, *row, cells),
                None => {
                    let model = self.model(*row).ok_or_else(|| no_cell(MODELS, *row, 0))?;
                    let place = EditedPosition::of(model.view());
                    cells.iter().try_for_each(|cell| self.set_cell(job, area, place, *row, cell))
                }
            })?;
        }
        Ok(())
    }

    /// The skeleton or the model with the list of a row of `table`. The model may be an inserted one.
    fn owner<'a>(&'a self, area: &Area<'a>, rows: RowTarget, number: usize, table: &str) -> Result<EditedPosition<'a>> {
        if let RowTarget::Nodes { .. } = rows {
            let skeleton = self.skeleton(number).ok_or_else(|| no_cell(table, number, 0))?;
            return Ok(EditedPosition::of(skeleton.view()));
        }
        if let Some(model) = self.model(number) {
            return Ok(EditedPosition::of(model.view()));
        }
        let (kept, come) = area.array.as_ref().map_or((self.len(), 0), |of| (of.kept, of.come()));
        let place = number.checked_sub(kept).filter(|at| *at < come);
        let place = place.ok_or_else(|| no_cell(table, number, 0))?;
        let to = To::Record(place.saturating_mul(Self::MODEL_SIZE));
        Ok(EditedPosition { view: View::new(&EMPTY, "model"), to })
    }

    fn all_records(&self) -> Records {
        let start = if self.is_empty() { size_of::<layout::ModelsHeader>() } else { self.models_at };
        let count = self.len();
        Records { start, size: Self::MODEL_SIZE, count, kept: count, new: Vec::new() }
    }

    /// The records after the edit, if some are inserted or deleted.
    fn records(&self, edits: &[TableEdits], refuse: Refuse<'_>) -> Result<Option<Records>> {
        let records = self.all_records();
        let other = (self.skeleton_count() > 0 && self.skeletons_at < records.end()).then_some("the skeletons");
        let records = records.with(edits, MODELS, other, refuse)?;
        if let Some(records) = records.as_ref().filter(|records| records.kept < records.count && records.come() > 0) {
            let what = format!("models: {} come, so that none goes in the same step", records.come());
            return Err(refused(what));
        }
        Ok(records)
    }

    /// Adjusts pointers of the header and of kept models that cross the changed range.
    fn repoint(&self, records: &Records, patches: &mut Patches) -> Result<()> {
        let bytes = self.source().bytes();
        let [_, model, visual] = Self::parts();
        let mut pointers = Vec::new();
        // A skeleton begins at its visual, so that both are the base of its pointers.
        for (ty, at) in [model, visual] {
            let mut of = Vec::new();
            ty.pointers(0, &mut of).expect("models and visuals have no unions");
            pointers.extend(of.into_iter().map(|pointer| (at, at.saturating_add(pointer))));
        }
        let starts = (0..records.kept).map(|number| records.start.saturating_add(number.saturating_mul(records.size)));
        let of_models = starts.flat_map(|start| {
            pointers.iter().map(move |(base, at)| (start.saturating_add(*base), start.saturating_add(*at)))
        });
        let header = (0, offset_of!(layout::ModelsHeader, skeletons_data));
        records.repoint(bytes, of_models.chain([header]), patches)?;
        let places = [offset_of!(layout::ModelsHeader, models), offset_of!(layout::ModelsHeader, models_data)];
        records.head(bytes, places, patches)
    }

    /// Deletes the rows of the parts of deleted models.
    fn lists_that_go(&self, edits: &mut Vec<TableEdits>) -> Result<()> {
        let Some(models) = edits.iter().find(|edits| edits.table == MODELS) else { return Ok(()) };
        let gone = models.remove.clone();
        for name in LISTS.into_iter().filter(|_| !gone.is_empty()) {
            let table = table(self, name)?;
            let mut rows = Vec::new();
            for number in &gone {
                let found = table.find(0, &Value::from(*number));
                rows.extend(found.expect("the tables of lists find rows by the numbers of models")?);
            }
            if rows.is_empty() {
                continue;
            }
            let at = edits.iter().position(|edits| edits.table == name).unwrap_or(edits.len());
            if at == edits.len() {
                edits.push(TableEdits { table: name.to_owned(), ..TableEdits::default() });
            }
            if let Some(edits) = edits.get_mut(at) {
                edits.remove.extend(rows);
                edits.remove.sort_unstable();
                edits.remove.dedup();
            }
        }
        Ok(())
    }

    fn check_skeleton(&self, number: &Value<'_>) -> Result<()> {
        let skeletons = self.skeleton_count();
        if matches!(number, Value::Uint(at) if usize::try_from(*at).is_ok_and(|at| at < skeletons)) {
            return Ok(());
        }
        let what = format!("{number} does not fit: there are {skeletons} skeletons");
        Err(refused(format!("models: column {SKELETON}: {what}")))
    }

    /// Writes an inserted model, without its lists.
    fn fresh(&self, mut out: Writer<'_, '_>, to: To, table: &dyn Table, cells: &ColumnValues) -> Result<()> {
        let mut counts = Vec::new();
        let mut missing = Vec::new();
        for (number, column) in table.columns().iter().enumerate() {
            let field = Self::parts().into_iter().find_map(|(of, at)| Some((of, at, field_of(of, &column.name)?)));
            let Some((of, at, field)) = field.filter(|_| is_stored(column)) else { continue };
            let is_list = matches!(of.field(field).form, Form::Array { .. });
            match cell(cells, number) {
                Some(value) => {
                    if column.name == SKELETON {
                        self.check_skeleton(value)?;
                    }
                    out.fresh_field(to.skip(at), of, field, value, &mut counts)?;
                }
                // No list is an empty one.
                None if is_list => {}
                None => missing.push(&*column.name),
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(out.refuse(format_args!("these columns are missing: {}", missing.join(", "))))
    }

    /// Writes one cell of a model with structs at these offsets.
    fn set_cell<'a>(
        &self,
        job: &mut Job<'_, '_>,
        area: &mut Area<'a>,
        place: EditedPosition<'a>,
        row: usize,
        cell: &(usize, Value<'static>),
    ) -> Result<()> {
        let column = column_name(job.table, cell.0);
        if column == SKELETON {
            self.check_skeleton(&cell.1)?;
        }
        let found = Self::parts().into_iter().find(|(of, _)| field_of(of, column).is_some());
        let (of, at) = found.ok_or_else(|| refused(format!("column {column} is not written")))?;
        job.row(area, place.skip(at), RowTarget::Records(of), row, &vec![cell.clone()])
    }
}

impl Writable for Space {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        let (mut changes, mut area) = (Changes::default(), self.area());
        let refuse: Refuse<'_> = &mut |_, error| Err(error);
        area.array = self.records(edits, refuse)?;
        edits.iter().try_for_each(|edits| self.rows(edits, &mut changes, &mut area, refuse))?;
        if let Some(records) = &area.array {
            self.repoint(records, &mut changes.patches)?;
        }
        let mut pieces = at_end(self.source().bytes().len(), changes.patches, area)?;
        pieces.follows = changes.follows;
        Ok(pieces)
    }

    fn refusals(&self, edits: &TableEdits) -> Result<Vec<(EditPosition, Error)>> {
        named(|refuse| {
            let mut area = self.area();
            area.array = self.records(std::slice::from_ref(edits), refuse)?;
            self.rows(edits, &mut Changes::default(), &mut area, refuse)
        })
    }

    /// A position may also be given by its numbers.
    fn settle(&self, edits: &mut Vec<TableEdits>) -> Result<()> {
        let instances = table(self, INSTANCES)?;
        let axes = ["x", "y", "z"].map(|axis| column_index(&*instances, axis));
        let matrix = column_index(&*instances, "transform");
        let cells = edits.iter_mut().filter(|edits| edits.table == INSTANCES).flat_map(|edits| &mut edits.add);
        for set in cells {
            let said = axes.map(|axis| set.iter().find(|(at, _)| Some(*at) == axis).map(|(_, cell)| cell.clone()));
            let transform = set.iter_mut().find(|(column, _)| Some(*column) == matrix);
            let Some((_, Value::List(numbers))) = transform else { continue };
            for (number, said) in numbers.iter_mut().skip(12).zip(said) {
                *number = said.unwrap_or_else(|| number.clone());
            }
        }
        Ok(())
    }
}

/// The position of a column in an instance, and its type.
fn instance_field(column: &str) -> Result<(usize, &'static Type)> {
    let axis = ["x", "y", "z"].iter().position(|axis| *axis == column);
    Ok(match (column, axis) {
        (_, Some(axis)) => (axis.saturating_add(12).saturating_mul(size_of::<f32>()), f32::OF),
        ("transform", _) => (offset_of!(layout::Instance, transform), <[f32; 16]>::OF),
        ("name", _) => (offset_of!(layout::Instance, name), Text::OF),
        ("id", _) => (offset_of!(layout::Instance, id), PathId::OF),
        ("flags", _) => (offset_of!(layout::Instance, flags), u32::OF),
        _ => return Err(refused(format!("instances: column {column} is not written"))),
    })
}

/// Writes an inserted instance. The unnamed bytes are 0, as in all known files of the game.
fn fresh_instance(mut out: Writer<'_, '_>, to: To, table: &dyn Table, cells: &ColumnValues) -> Result<()> {
    let needed = ["id", "transform", "flags"];
    let missing: Vec<&str> = needed.into_iter().filter(|name| cell_named(table, cells, name).is_none()).collect();
    if !missing.is_empty() {
        return Err(out.refuse(format_args!("an inserted row needs these columns: {}", missing.join(", "))));
    }
    // A position that is given by its numbers is part of the matrix.
    for name in ["id", "transform", "flags", "name", "x", "y", "z"] {
        if let Some(value) = cell_named(table, cells, name) {
            let (at, of) = instance_field(name)?;
            out.fresh(to.skip(at), of, value)?;
        }
    }
    Ok(())
}

impl Space {
    /// The records after the edit, if some are inserted or deleted.
    fn records(&self, edits: &[TableEdits], refuse: Refuse<'_>) -> Result<Option<Records>> {
        let [(start, count), others @ ..] = self.arrays;
        let start = if count == 0 { size_of::<layout::SpaceHeader>() } else { start };
        let size = size_of::<layout::Instance>();
        let all = Records { start, size, count, kept: count, new: Vec::new() };
        let [_, names @ ..] = ARRAYS;
        let mut others = others.into_iter().zip(names);
        let other = others.find(|((at, count), _)| *count > 0 && *at < all.end()).map(|(_, (name, _))| name);
        let records = all.with(edits, INSTANCES, other, refuse)?;
        // In the second array only the number of an instance is known (docs/formats/bwdb.md §9).
        const NUMBER: usize = 0x40;
        let [_, (at, count), ..] = self.arrays;
        let [_, (name, stride), ..] = ARRAYS;
        if let Some(records) = records.as_ref().filter(|records| records.kept < records.count) {
            for entry in 0..count {
                let view = self.source().view(name).at(at).skip(entry.saturating_mul(stride)).skip(NUMBER);
                let number = view.read::<le::U16>()?.get();
                if usize::from(number) >= records.kept {
                    let what = format!("instances: row {number} cannot go: entry {entry} of {name} lies at it");
                    refuse(EditPosition::Remove(number.into()), refused(what))?;
                    break;
                }
            }
        }
        Ok(records)
    }

    /// Adjusts pointers of the header and of the names of kept instances that cross the changed range.
    fn repoint(&self, records: &Records, patches: &mut Patches) -> Result<()> {
        let bytes = self.source().bytes();
        let name = offset_of!(layout::Instance, name);
        let starts = (0..records.kept).map(|number| records.start.saturating_add(number.saturating_mul(records.size)));
        let names = starts.map(|start| {
            (start.saturating_add(name), start.saturating_add(name).saturating_add(offset_of!(PackedString, text)))
        });
        let data = offset_of!(layout::SpaceHeader, data);
        let header =
            (1..ARRAYS.len()).map(|array| (0, data.saturating_add(array.saturating_mul(size_of::<le::I64>()))));
        records.repoint(bytes, names.chain(header), patches)?;
        records.head(bytes, [offset_of!(layout::SpaceHeader, counts), data], patches)
    }

    /// The area that instances and lights point to.
    fn area(&self) -> Area<'_> {
        let (file, instances) = (self.source().view(""), self.instances());
        let records = instances.len().saturating_add(self.light_count());
        let view = self.source().view("instances");
        Area::new(file, 0..file.data().len(), records, move |record, ranges| match instances.get(record) {
            Some(instance) => {
                Text::OF.walk(view.locate(&instance.name), "", ranges);
            }
            None => {
                let light = record.checked_sub(instances.len()).and_then(|light| self.light(light));
                light.into_iter().for_each(|light| p::SpaceLight::OF.walk_fields(light.view(), ranges));
            }
        })
    }

    /// Writes the edits of one table.
    fn rows<'a>(
        &'a self,
        edits: &TableEdits,
        changes: &mut Changes<'a>,
        area: &mut Area<'a>,
        refuse: Refuse<'_>,
    ) -> Result<()> {
        let table = table(self, &edits.table)?;
        if edits.table == INSTANCES {
            for (number, cells) in edits.add.iter().enumerate() {
                let to = To::Record(number.saturating_mul(size_of::<layout::Instance>()));
                let out = Writer { patches: &mut changes.patches, area, what: INSTANCES.to_owned() };
                fresh_instance(out, to, &*table, cells).or_else(|error| refuse(EditPosition::Add(number), error))?;
            }
        } else {
            no_rows(edits, refuse)?;
        }
        let mut job = Job { table: &*table, patches: &mut changes.patches, follows: &mut changes.follows };
        let view = self.source().view("instances");
        for (row, cells) in &edits.set {
            job.attempt(area, *row, refuse, |job, area| {
                if edits.table == "point_lights" {
                    let light = self.light(*row).ok_or_else(|| no_cell(&edits.table, *row, 0))?;
                    let light = EditedPosition::of(light.view());
                    let rows = RowTarget::Records(p::SpaceLight::OF);
                    return job.row(area, light, rows, *row, cells);
                }
                let instance = self.instances().get(*row).ok_or_else(|| no_cell(&edits.table, *row, 0))?;
                let place = EditedPosition::of(view.locate(instance));
                cells.iter().try_for_each(|cell| self.set_instance(job, area, place, *row, cell))
            })?;
        }
        Ok(())
    }

    /// Writes one cell of an instance.
    fn set_instance<'a>(
        &self,
        job: &mut Job<'_, '_>,
        area: &mut Area<'a>,
        place: EditedPosition<'a>,
        row: usize,
        (number, new): &(usize, Value<'static>),
    ) -> Result<()> {
        let column = column_name(job.table, *number);
        let old = job.table.value(row, *number)?;
        // The axis, if the column is one number of the matrix.
        let axis = ["x", "y", "z"].iter().position(|axis| *axis == column);
        let (at, of) = instance_field(column)?;
        let shown_twice: &[&str] = match (column, axis) {
            (_, Some(_)) => &["transform"],
            ("transform", _) => &["x", "y", "z"],
            _ => &[],
        };
        let twice: Vec<usize> = shown_twice.iter().filter_map(|name| column_index(job.table, name)).collect();
        twice.into_iter().for_each(|column| job.follow(column));
        let what = format!("instances: row {row}: column {column}");
        Writer { patches: job.patches, area, what }.set_value(place.skip(at), of, &old, new)
    }
}
