//! Edits of `.splash` files: boxes are changed, inserted and deleted.

use super::{LONGEST, Splash, SplashBox, is_plain, read};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::table::Value;
use crate::writable::{
    Cells, Change, ColumnValues, Edit, EntryEdit, Pieces, TableEdits, Writable, no_entry, refused, short_text,
};
use std::fmt::Display;
use std::ops::Range;

/// The names of the columns after the box's name, in the order of the file.
const CORNERS: [&str; 6] = ["min_x", "min_y", "min_z", "max_x", "max_y", "max_z"];

/// A box as it is to be written.
struct Written {
    name: String,
    /// Corners that are not known yet are `None`.
    corners: [Option<f32>; 6],
}

impl Written {
    fn of(found: &SplashBox<'_>) -> Self {
        let [a, b, c] = found.min.map(Some);
        let [d, e, f] = found.max.map(Some);
        Self { name: found.name.to_owned(), corners: [a, b, c, d, e, f] }
    }

    fn set(&mut self, cells: &ColumnValues) {
        for (column, value) in cells {
            match (value, column.checked_sub(1).and_then(|at| self.corners.get_mut(at))) {
                (Value::Text(name), None) => self.name = name.to_string(),
                (Value::F32(number), Some(corner)) => *corner = Some(*number),
                _ => {}
            }
        }
    }

    fn refuse(&self, what: impl Display) -> Error {
        refused(format!("boxes {}: column {what}", short_text(&self.name)))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let size = match u32::try_from(self.name.len()) {
            Ok(size) if (1..=LONGEST).contains(&size) && self.name.bytes().all(is_plain) => size,
            _ => return Err(self.refuse(format_args!("name: 1 to {LONGEST} ASCII characters fit"))),
        };
        let mut bytes = [&size.to_le_bytes(), self.name.as_bytes()].concat();
        let mut corners = Vec::new();
        for (corner, name) in self.corners.iter().zip(CORNERS) {
            corners.push(corner.ok_or_else(|| self.refuse(format_args!("{name} is missing")))?);
        }
        let (least, most) = corners.split_at(3);
        for ((least, most), name) in least.iter().zip(most).zip(CORNERS) {
            // Numbers that cannot be compared are in no order either.
            if !(least <= most && most.is_finite()) {
                let what = format!("a number up to that of the opposite corner, {most}, does");
                return Err(self.refuse(format_args!("{name}: {least} does not fit: {what}")));
            }
        }
        bytes.extend(corners.iter().flat_map(|corner| corner.to_le_bytes()));
        Ok(bytes)
    }
}

impl Splash {
    /// A box, and where it lies.
    fn located(&self, row: usize) -> Result<(SplashBox<'_>, Range<usize>)> {
        let start = self.index().boxes.get(row).copied();
        let start = start.ok_or_else(|| crate::table::no_cell("boxes", row, 0))?;
        let mut cursor = Cursor::new(self.source.view("box").at(start));
        let found = read(&mut cursor)?;
        Ok((found, start..cursor.position()))
    }
}

impl Writable for Splash {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        let mut stretches = Vec::new();
        for edits in edits {
            for (row, cells) in &edits.set {
                let (found, range) = self.located(*row)?;
                let mut written = Written::of(&found);
                written.set(cells);
                stretches.push((range, written.bytes()?));
            }
            for row in &edits.remove {
                stretches.push((self.located(*row)?.1, Vec::new()));
            }
            if edits.add.is_empty() && edits.remove.is_empty() {
                continue;
            }
            // How many boxes there are is known where none is damaged.
            if let Some(damage) = &self.index().damage {
                return Err(damage.clone());
            }
            let mut last = Vec::new();
            for cells in &edits.add {
                let mut written = Written { name: String::new(), corners: [None; 6] };
                written.set(cells);
                last.extend(written.bytes()?);
            }
            stretches.push((self.index().end..self.index().end, last));
            let count = self.index().boxes.len().saturating_add(edits.add.len()).saturating_sub(edits.remove.len());
            let count = u32::try_from(count).map_err(|_| refused("boxes: there are more than can be counted"))?;
            stretches.push((0..4, count.to_le_bytes().to_vec()));
        }
        stretches.sort_by_key(|(range, _)| (range.start, range.end));
        Pieces::replaced(self.source.bytes().len(), stretches)
    }

    fn entry(&self, entry: &str, new: &Value<'static>) -> Result<Option<EntryEdit>> {
        let Some(found) = self.named(entry)? else { return Err(no_entry(entry)) };
        let Value::Map(members) = new else { return Err(refused("a box is an object of name, min and max")) };
        let mut cells = Cells::new();
        for (name, value) in members {
            let (names, old) = match (&**name, CORNERS.split_at(3)) {
                ("name", _) => {
                    if value.as_text().as_deref() != Some(entry) {
                        cells.push((name.clone(), value.clone()));
                    }
                    continue;
                }
                ("min", (names, _)) => (names, found.min),
                ("max", (_, names)) => (names, found.max),
                _ => {
                    return Err(refused(format!("a box has no member {}; it has name, min and max", short_text(name))));
                }
            };
            let Value::List(numbers) = value else { return Err(refused(format!("{name}: a list of 3 numbers fits"))) };
            if numbers.len() != names.len() {
                return Err(refused(format!("{name}: a list of 3 numbers fits, and this has {}", numbers.len())));
            }
            for ((name, number), old) in names.iter().zip(numbers).zip(old) {
                // A number that is not finite is shown as null, and stays.
                if !number.is_null() || old.is_finite() {
                    cells.push(((*name).into(), number.clone()));
                }
            }
        }
        let edit = Edit::new(Some("boxes"), Value::owned(entry.to_owned()), Change::Set(cells));
        Ok(Some(EntryEdit::Edits(vec![edit])))
    }
}
