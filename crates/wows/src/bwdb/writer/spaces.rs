//! Edits of `models.bin` and `space.bin`.

use super::super::prototypes as p;
use super::super::record::{FieldInfo, Form, PathId, Text, Type, Typed as _};
use super::super::row_targets::{RowTarget, list_named, lists_of};
use super::super::space::ARRAYS;
use super::super::{Models, Space, layout, verify};
use super::area::{Area, EditedPosition, To, Writer, member};
use super::entry::{EntryTrees, wanted_members};
use super::job::{Job, table};
use super::records::Records;
use super::{Changes, Refuse, items, named};
use crate::bytes::le;
use crate::error::{Error, Result};
use crate::reader::Reader;
use crate::source::Source;
use crate::table::{Tree, Value, no_cell};
use crate::writable::{
    EditPosition, EntryEdit, Piece, Pieces, ReadBack, TableEdits, Writable, agrees, cell_named, no_entry, refused,
    short,
};
use std::mem::offset_of;
use std::ops::Range;

const MODELS: &str = "models";
const INSTANCES: &str = "instances";
/// The column with the number of a model's skeleton.
const SKELETON: &str = "skeleton_index";

/// The tables of what models have.
fn lists() -> impl Iterator<Item = &'static str> {
    let lists = lists_of(p::MergedModel::OF).into_iter();
    lists.filter(|(_, rows)| matches!(rows, RowTarget::Elements(_))).map(|(name, _)| name)
}

/// The columns with the position of an instance, which is a part of its matrix.
const AXES: [&str; 3] = ["x", "y", "z"];

/// The columns of an instance, and its pointers. The unnamed bytes are 0 in all known files of the game.
static INSTANCE: Type = {
    const fn field(name: &'static str, at: usize, of: &'static Type) -> FieldInfo {
        FieldInfo { name, at, of, form: Form::Inline, told_in: Some(name) }
    }
    const FIELDS: &[FieldInfo] = &[
        field("transform", offset_of!(layout::Instance, transform), <[f32; 16]>::OF),
        // The last row of the matrix, which begins the struct.
        field("x", 0x30, f32::OF),
        field("y", 0x34, f32::OF),
        field("z", 0x38, f32::OF),
        field("name", offset_of!(layout::Instance, name), Text::OF),
        field("id", offset_of!(layout::Instance, id), PathId::OF),
        field("flags", offset_of!(layout::Instance, flags), u32::OF),
    ];
    Type::of_fields("Instance", size_of::<layout::Instance>(), Some(INSTANCES), FIELDS)
};

/// The file after the edits. It grows at its end, without any unreferenced byte. Pointers of `of`, the type of its records, and of the
/// header at `pointers` are adjusted; `head` are the positions of the number of records and of the pointer to them.
fn pieces(
    source: &Source,
    mut changes: Changes<'_>,
    area: Area<'_>,
    of: &Type,
    pointers: impl Iterator<Item = usize>,
    head: [usize; 2],
) -> Result<Pieces> {
    let (file, in_place) = (source.bytes(), area.new.is_empty() && area.array.is_none());
    if let Some(records) = &area.array {
        let mut inner = Vec::new();
        of.pointers(0, &mut inner).expect("models and instances have no unions");
        let starts = (0..records.kept).map(|number| records.start.saturating_add(number.saturating_mul(records.size)));
        let inner = starts.flat_map(|start| {
            inner.iter().map(move |(base, at)| (start.saturating_add(*base), start.saturating_add(*at)))
        });
        records.repoint(file, inner.chain(pointers.map(|at| (0, at))), &mut changes.patches)?;
        records.head(file, head, &mut changes.patches)?;
    }
    let mut stretches: Vec<(Range<usize>, Vec<u8>)> = changes.patches.into_stretches().collect();
    // Inserted records replace the deleted ones.
    stretches.extend(area.array.map(|records| (records.kept_end()..records.end(), records.new)));
    stretches.sort_by_key(|(range, _)| (range.start, range.end));
    stretches.extend((!area.new.is_empty()).then_some((file.len()..file.len(), area.new)));
    let mut pieces = Pieces::replaced(file.len(), stretches)?;
    pieces.read_back = if in_place { ReadBack::Rows } else { ReadBack::All };
    (pieces.follows, pieces.added) = (changes.follows, changes.added);
    Ok(pieces)
}

impl Writable for Models {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        let (mut changes, mut area) = (Changes::default(), self.area());
        let refuse: Refuse<'_> = &mut |_, error| Err(error);
        area.array = self.records(edits, refuse)?;
        edits.iter().try_for_each(|edits| self.rows(edits, &mut changes, &mut area, refuse))?;
        let pointers = [offset_of!(layout::ModelsHeader, skeletons_data)].into_iter();
        let head = [offset_of!(layout::ModelsHeader, models), offset_of!(layout::ModelsHeader, models_data)];
        let mut pieces =
            self.without_tail(pieces(self.source(), changes, area, p::MergedModel::OF, pointers, head)?)?;
        // Their rows are identified by the ids of the models, which determine their number.
        pieces.also = lists().chain([MODELS]).map(str::to_owned).collect();
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

    fn entry(&self, entry: &str, new: &Value<'static>) -> Result<Option<EntryEdit>> {
        let mut tree = Tree::default();
        if !Reader::cat(self, entry, &mut tree)? {
            return Err(no_entry(entry));
        }
        let EntryTrees { facts, before, after } = EntryTrees::of(entry, tree.into_value(), new, |members| {
            members
                .iter()
                .cloned()
                .partition(|(name, _)| matches!(&**name, "index" | "path" | "id" | "offset" | "size"))
        })?;
        let index = match member(&facts, "index") {
            Value::Uint(index) => usize::try_from(*index).ok(),
            _ => None,
        };
        let model = index.and_then(|index| self.model(index)).ok_or_else(|| no_entry(entry))?;
        let (mut changes, mut area) = (Changes::default(), self.area());
        let mut out = Writer { patches: &mut changes.patches, area: &mut area, what: entry.to_owned() };
        out.set_members(EditedPosition::old(model.view()), p::MergedModel::OF, Some(&before), &after)?;
        let shown = wanted_members(p::MergedModel::OF, &before, &after);
        let pieces = pieces(self.source(), changes, area, p::MergedModel::OF, std::iter::empty(), [0; 2])?;
        Ok(Some(EntryEdit::Shown(self.without_tail(pieces)?, Value::Map(shown))))
    }

    /// Rows of tables below models are known by the ids of their models.
    fn keying(&self) -> Option<&'static str> {
        Some("models")
    }
}

impl Models {
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
        cut.read_back = pieces.read_back;
        (cut.follows, cut.added) = (pieces.follows.clone(), pieces.added.clone());
        for piece in pieces.list() {
            let left = end.saturating_sub(cut.len());
            match piece {
                Piece::Keep(range) => cut.keep(range.start..range.end.min(range.start.saturating_add(left))),
                Piece::New(bytes) => cut.insert(bytes.split_at(left.min(bytes.len())).0),
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

    fn area(&self) -> Area<'_> {
        let (file, models) = (self.source().view(""), self.len());
        let records = models.saturating_add(self.skeleton_count());
        Area::new(file, 0..file.data().len(), records, move |record, reach| {
            let (of, view) = match record.checked_sub(models) {
                None => (p::MergedModel::OF, self.model(record).map(|model| model.view())),
                Some(record) => (p::Skeleton::OF, self.skeleton(record).map(|skeleton| skeleton.view())),
            };
            view.into_iter().for_each(|view| of.walk_fields(view, reach));
        })
    }

    fn rows<'a>(
        &'a self,
        edits: &TableEdits,
        changes: &mut Changes<'a>,
        area: &mut Area<'a>,
        refuse: Refuse<'_>,
    ) -> Result<()> {
        let rows = Self::lists_of(&edits.table).unwrap_or(RowTarget::Records(p::MergedModel::OF));
        let table = table(self, &edits.table)?;
        let set = edits.set.iter().map(|(row, cells)| (EditPosition::Set(*row), cells));
        let add = edits.add.iter().enumerate().map(|(number, cells)| (EditPosition::Add(number), cells));
        for (at, cells) in set.chain(add) {
            if let Some(number) = cell_named(&*table, cells, SKELETON) {
                self.check_skeleton(number).or_else(|error| refuse(at, error))?;
            }
        }
        let out = Writer { patches: &mut changes.patches, area, what: String::new() };
        let mut job = Job { table: &*table, rows, edits, out, follows: &mut changes.follows, refuse };
        if let RowTarget::Records(of) = rows {
            job.insert(of, &[])?;
        }
        changes.added.extend(job.write(|area, number| self.owner(area, rows, number))?);
        Ok(())
    }

    /// The skeleton or the model with the list of a row, unless the list goes with its model. The model may be an inserted one.
    fn owner<'a>(&'a self, area: &Area<'a>, rows: RowTarget, number: usize) -> Result<Option<EditedPosition<'a>>> {
        if let RowTarget::Nodes { .. } = rows {
            let skeleton = self.skeleton(number).ok_or_else(|| no_cell("skeletons", number, 0))?;
            return Ok(Some(EditedPosition::old(skeleton.view())));
        }
        let (kept, come) = area.array.as_ref().map_or((self.len(), 0), |of| (of.kept, of.come()));
        if let Some(model) = self.model(number) {
            return Ok((number < kept).then_some(EditedPosition::old(model.view())));
        }
        let place = number.checked_sub(kept).filter(|at| *at < come);
        let place = place.ok_or_else(|| no_cell(MODELS, number, 0))?;
        Ok(Some(EditedPosition::new(To::Record(place.saturating_mul(Self::MODEL_SIZE)))))
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

    fn lists_that_go(&self, edits: &mut Vec<TableEdits>) -> Result<()> {
        let Some(models) = edits.iter().find(|edits| edits.table == MODELS) else { return Ok(()) };
        let gone = models.remove.clone();
        for name in lists().filter(|_| !gone.is_empty()) {
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
}

impl Writable for Space {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        let (mut changes, mut area) = (Changes::default(), self.area());
        let refuse: Refuse<'_> = &mut |_, error| Err(error);
        area.array = self.records(edits, refuse)?;
        edits.iter().try_for_each(|edits| self.rows(edits, &mut changes, &mut area, refuse))?;
        let data = offset_of!(layout::SpaceHeader, data);
        let pointers = (1..ARRAYS.len()).map(|array| data.saturating_add(array.saturating_mul(size_of::<le::I64>())));
        pieces(self.source(), changes, area, &INSTANCE, pointers, [offset_of!(layout::SpaceHeader, counts), data])
    }

    fn refusals(&self, edits: &TableEdits) -> Result<Vec<(EditPosition, Error)>> {
        named(|refuse| {
            let mut area = self.area();
            area.array = self.records(std::slice::from_ref(edits), refuse)?;
            self.rows(edits, &mut Changes::default(), &mut area, refuse)
        })
    }

    /// A position may be given by its numbers, by the matrix, or by both if they agree.
    fn settle(&self, edits: &mut Vec<TableEdits>) -> Result<()> {
        for edits in edits.iter_mut().filter(|edits| edits.table != INSTANCES) {
            items::drop_counts(&*table(self, &edits.table)?, p::SpaceLight::OF, edits)?;
        }
        let instances = table(self, INSTANCES)?;
        let rows = edits.iter().filter(|edits| edits.table == INSTANCES);
        let cells = rows.flat_map(|edits| edits.add.iter().chain(edits.set.iter().map(|(_, cells)| cells)));
        for set in cells {
            let Some(Value::List(numbers)) = cell_named(&*instances, set, "transform") else { continue };
            for (number, axis) in numbers.iter().skip(12).zip(AXES) {
                let Some(said) = cell_named(&*instances, set, axis).filter(|said| !agrees(said, number)) else {
                    continue;
                };
                let what = format!("{} does not fit: the transform has {}", short(said), short(number));
                return Err(refused(format!("{INSTANCES}: column {axis}: {what}")));
            }
        }
        Ok(())
    }
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

    fn area(&self) -> Area<'_> {
        let (file, instances) = (self.source().view(""), self.instances());
        let records = instances.len().saturating_add(self.light_count());
        let view = self.source().view("instances");
        Area::new(file, 0..file.data().len(), records, move |record, reach| match instances.get(record) {
            Some(instance) => {
                INSTANCE.walk_fields(view.locate(instance), reach);
            }
            None => {
                let light = record.checked_sub(instances.len()).and_then(|light| self.light(light));
                light.into_iter().for_each(|light| p::SpaceLight::OF.walk_fields(light.view(), reach));
            }
        })
    }

    fn rows<'a>(
        &'a self,
        edits: &TableEdits,
        changes: &mut Changes<'a>,
        area: &mut Area<'a>,
        refuse: Refuse<'_>,
    ) -> Result<()> {
        let table = table(self, &edits.table)?;
        let of = if edits.table == INSTANCES { &INSTANCE } else { p::SpaceLight::OF };
        let out = Writer { patches: &mut changes.patches, area, what: String::new() };
        let rows = RowTarget::Records(of);
        let mut job = Job { table: &*table, rows, edits, out, follows: &mut changes.follows, refuse };
        if of == &INSTANCE {
            job.insert(of, &AXES)?;
            // The position is shown twice.
            let is_set = |column| edits.set.iter().any(|(_, cells)| cell_named(&*table, cells, column).is_some());
            if is_set("transform") {
                job.follow_named(&AXES);
            }
            if AXES.iter().any(|axis| is_set(axis)) {
                job.follow_named(&["transform"]);
            }
        } else {
            job.refuse_rows()?;
        }
        let view = self.source().view(INSTANCES);
        job.write(|_, number| {
            let place = match of == &INSTANCE {
                true => self.instances().get(number).map(|instance| view.locate(instance)),
                false => self.light(number).map(|light| light.view()),
            };
            Ok(Some(EditedPosition::old(place.ok_or_else(|| no_cell(&edits.table, number, 0))?)))
        })?;
        Ok(())
    }
}
