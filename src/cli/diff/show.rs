//! Differences as text, Markdown, rows, and pages.

use super::args::{By, DiffArgs};
use super::condition::{Condition, Filters};
use super::page;
use crate::asset::Asset;
use crate::cli::changes::{
    COLUMNS, ChangedTable, KINDS, by, cells, lone_value, mark, report_faults, said, side_of, text,
};
use crate::cli::stdout::Stdout;
use crate::cli::{Context, Failure, Format};
use crate::diff::{ChangedRow, DifferenceKind as Happened, Differences, Pair, TableDiff};
use crate::error::Error;
use crate::table::{Column, Kind, Value};
use crate::write::rows::RowWriter;
use crate::write::text::{Mark, TextPage, escape};
use self_cell::self_cell;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::io::Write;

pub(super) struct Show<'s> {
    pub(super) args: &'s DiffArgs,
    pub(super) context: &'s Context,
    pub(super) old: &'s Asset,
    pub(super) new: &'s Asset,
    pub(super) out: Out,
    pub(super) differing: usize,
    /// Selected rows that differ.
    pub(super) meant: usize,
    pub(super) condition: Option<Condition>,
}

impl Show<'_> {
    /// The selected rows of the tables that differ. `path` is the path of the files in their archives.
    pub(super) fn found<'d, 'a>(
        &mut self,
        path: Option<&str>,
        tables: &'d [TableDiff<'a>],
        all: &[Differences],
        filters: &[Option<Filters>],
    ) -> Vec<ChangedTable<'d, 'a>> {
        let (context, old, new) = (self.context, self.old, self.new);
        let mut found = Vec::new();
        for ((table, differences), filter) in tables.iter().zip(all).zip(filters) {
            report_faults(differences, old, new, context);
            let mut pairs: Vec<Pair> = differences.pairs().collect();
            self.differing += pairs.len();
            let name = path.map_or_else(|| table.name().to_owned(), |path| format!("{path}:{}", table.name()));
            let Some(filter) = filter else {
                if let Some(condition) = self.condition.as_mut().filter(|_| !pairs.is_empty()) {
                    condition.leave_out(&name, pairs.len(), table);
                }
                continue;
            };
            if filter.iter().any(Option::is_some) {
                table.retain_matching(&mut pairs, filter, &mut |side, error| {
                    context.damaged(side_of(side, old, new).source().name(), &error);
                });
            }
            self.meant += pairs.len();
            note_columns(context, old, new, table);
            found.push(ChangedTable { name, table, pairs });
        }
        found
    }

    /// Shows the differences of two files inside of the archives: all of a selected file, otherwise the selected rows.
    pub(super) fn inner(&mut self, path: &str, is_selected: bool, inner: Result<Inner, Error>) -> Result<(), Failure> {
        let (args, context) = (self.args, self.context);
        let Some(inner) = context.or_failed(inner.map_err(Failure::of_file(path))) else { return Ok(()) };
        inner.with_dependent(|[old, new], Compared { tables, differences }| {
            let mut condition = self.condition.take();
            let filters = match &mut condition {
                Some(condition) if !is_selected => condition.bind(Some(path), tables),
                _ => unfiltered(tables),
            };
            let out = std::mem::take(&mut self.out);
            let mut inside = Show { args, context, old, new, out, differing: 0, meant: 0, condition };
            let found = inside.found(Some(path), tables, differences, &filters);
            inside.show(found)?;
            self.out = std::mem::take(&mut inside.out);
            self.condition = inside.condition.take();
            self.differing += inside.differing;
            self.meant += inside.meant;
            Ok(())
        })
    }

    pub(super) fn show(&mut self, found: Vec<ChangedTable<'_, '_>>) -> Result<(), Failure> {
        match self.context.format() {
            _ if self.args.stat => self.stat(&found),
            _ if self.out.page.is_some() => self.page(&found),
            Format::Text => self.text(&found),
            Format::Markdown => self.markdown(&found),
            _ => self.rows(&found),
        }
    }

    pub(super) fn change<'d>(&self, table: &'d TableDiff<'_>, pair: Pair) -> ChangedRow<'d> {
        table.change(pair, &mut |side, error| {
            self.context.damaged(side_of(side, self.old, self.new).source().name(), &error);
        })
    }

    pub(super) fn key(&self, table: &TableDiff<'_>, pair: Pair) -> String {
        let file = side_of(pair.side(), self.old, self.new).source().name();
        let key = self.context.or_damaged(file, table.key(pair));
        key.map_or_else(String::new, |key| text(&key))
    }

    pub(super) fn limit(&self) -> usize {
        self.args.limit.unwrap_or(usize::MAX)
    }

    pub(super) fn rows(&mut self, found: &[ChangedTable<'_, '_>]) -> Result<(), Failure> {
        let mut out = self.out.rows.take().map_or_else(|| self.context.rows_of(COLUMNS), Ok)?;
        for ChangedTable { name, table, pairs } in found {
            for &pair in pairs.iter().take(self.limit()) {
                out.row(&cells(name, pair, self.change(table, pair)))?;
            }
        }
        self.out.rows = Some(out);
        Ok(())
    }

    /// Counts the rows that differ, by table and by the requested groups.
    pub(super) fn stat(&mut self, found: &[ChangedTable<'_, '_>]) -> Result<(), Failure> {
        let names: &[&'static str] = match &*self.args.by {
            [] => &["group"],
            [By::Folder] => &["folder"],
            [By::Kind] => &["kind"],
            _ => &["folder", "kind"],
        };
        let mut columns = vec![Column::new("table", Kind::Text)];
        columns.extend(names.iter().map(|name| Column::new(name, Kind::Text)));
        columns.extend(KINDS.map(|kind| Column::new(kind.name(), Kind::Uint)));
        let mut out = self.out.rows.take().map_or_else(|| self.context.rows(&columns), Ok)?;
        for ChangedTable { name, table, pairs } in found {
            let mut groups: BTreeMap<Vec<String>, [u64; 3]> = BTreeMap::new();
            for &pair in pairs {
                // Damaged cells are reported as when rows are shown.
                let ChangedRow { key, what, .. } = self.change(table, pair);
                let key = if table.has_paths() { text(&key) } else { String::new() };
                let group = names.iter().map(|name| match (*name, &what) {
                    ("group" | "kind", Some(what)) => what.clone(),
                    ("kind", None) => ending(&key).to_owned(),
                    _ => top(folder(&key), self.args.depth).to_owned(),
                });
                groups.entry(group.collect()).or_default()[pair.kind() as usize] += 1;
            }
            for (group, counts) in groups {
                let group = group.into_iter().map(|group| if group.is_empty() { Value::Null } else { group.into() });
                let counts = counts.into_iter().map(Value::from);
                out.row(&[Value::text(name)].into_iter().chain(group).chain(counts).collect::<Vec<_>>())?;
            }
        }
        self.out.rows = Some(out);
        Ok(())
    }

    /// Text for people: by table and folder.
    pub(super) fn text(&self, found: &[ChangedTable<'_, '_>]) -> Result<(), Failure> {
        let mut page = self.context.page();
        // A path that was added or removed with its resource is shown with the resource, with its type.
        let of_resources: HashSet<(Happened, String)> = found
            .iter()
            .filter(|found| found.table.name() == "resources")
            .flat_map(|found| found.pairs.iter().map(|&pair| (pair.kind(), self.key(found.table, pair))))
            .filter(|(kind, _)| *kind != Happened::Changed)
            .collect();
        for found in found.iter().filter(|found| !found.pairs.is_empty()) {
            let ChangedTable { name, table, pairs } = found;
            let counts = KINDS.into_iter().zip(found.counts()).filter(|(_, count)| *count > 0);
            let counts: Vec<String> = counts.map(|(kind, count)| format!("{count} {}", kind.name())).collect();
            page.put_marked(name, Mark::Bold)?;
            page.put_text(&format!(": {}", counts.join(", ")))?;
            let mut at = None;
            let mut shown: Vec<(String, Pair)> = Vec::new();
            if table.has_paths() {
                shown.extend(pairs.iter().map(|&pair| (self.key(table, pair), pair)));
                shown.sort_by(|(a, _), (b, _)| (folder(a), a).cmp(&(folder(b), b)));
            }
            if table.name() == "paths" {
                shown.retain_mut(|(key, pair)| {
                    let told = (pair.kind(), std::mem::take(key));
                    let again = of_resources.contains(&told);
                    *key = told.1;
                    !again
                });
                let told = pairs.len() - shown.len();
                if told > 0 {
                    page.put_text(&format!("; {told} of them are shown among resources"))?;
                }
            }
            page.end_line()?;
            let sorted = shown.iter().map(|(key, pair)| (Some(key), *pair));
            let plain = pairs.iter().map(|pair| (None, *pair)).skip(if table.has_paths() { usize::MAX } else { 0 });
            for (key, pair) in sorted.chain(plain).take(self.limit()) {
                let change = self.change(table, pair);
                let key = key.map_or_else(|| Cow::Owned(text(&change.key)), |key| Cow::Borrowed(&**key));
                let folder = folder(&key);
                let (indent, name) = match table.has_paths() && !folder.is_empty() {
                    true => {
                        if at.as_deref() != Some(folder) {
                            page.line(&format!("  {folder}/"))?;
                            at = Some(folder.to_owned());
                        }
                        ("    ", key.rsplit('/').next().unwrap_or(&key))
                    }
                    false => ("  ", &*key),
                };
                one(&mut page, indent, name, &change)?;
            }
            let total = if table.has_paths() { shown.len() } else { pairs.len() };
            if let Some(more) = total.checked_sub(self.limit()).filter(|&more| more > 0) {
                page.line(&format!("  … and {more} more"))?;
            }
        }
        Ok(page.flush()?)
    }

    /// Text for wikis and posts: a heading for each table, and lists; long lists are collapsed.
    pub(super) fn markdown(&self, found: &[ChangedTable<'_, '_>]) -> Result<(), Failure> {
        let mut page = self.context.page();
        for found in found.iter().filter(|found| !found.pairs.is_empty()) {
            page.line(&format!("## {}", code(&found.name)))?;
            for (kind, count) in KINDS.into_iter().zip(found.counts()).filter(|(_, count)| *count > 0) {
                let what = kind.name();
                let folded = count > UNFOLDED;
                page.line("")?;
                page.line(&if folded {
                    format!("<details><summary>{count} {what}</summary>")
                } else {
                    format!("**{count} {what}**")
                })?;
                page.line("")?;
                for pair in found.of_kind(kind).take(self.limit()) {
                    item(&mut page, &self.change(found.table, pair))?;
                }
                if let Some(more) = count.checked_sub(self.limit()).filter(|&more| more > 0) {
                    page.line(&format!("- … and {more} more"))?;
                }
                if folded {
                    page.line("")?;
                    page.line("</details>")?;
                }
            }
            page.line("")?;
        }
        Ok(page.flush()?)
    }

    /// A part of the page for each table.
    fn page(&mut self, found: &[ChangedTable<'_, '_>]) -> Result<(), Failure> {
        let Some(mut tables) = self.out.page.take() else { return Ok(()) };
        for found in found {
            tables.add(found, self.limit(), &|pair| self.change(found.table, pair))?;
        }
        self.out.page = Some(tables);
        Ok(())
    }
}

/// A row as an item of a list, with an item for each field that changed.
fn item(page: &mut TextPage<impl Write>, change: &ChangedRow<'_>) -> Result<(), Failure> {
    let what = change.what.as_ref().map_or_else(String::new, |what| format!(" ({})", code(what)));
    page.line(&format!("- {}{what}", code(&text(&change.key))))?;
    if change.kind == Happened::Changed {
        for field in said(&change.fields) {
            let (old, new) = (code(&text(&field.old)), code(&text(&field.new)));
            page.line(&format!("  - {}: {old} → {new}{}", code(&field.name), by(&field.old, &field.new)))?;
        }
    }
    Ok(())
}

/// A row of a list by folders, with a line for each field that changed.
fn one(page: &mut TextPage<impl Write>, indent: &str, name: &str, change: &ChangedRow<'_>) -> Result<(), Failure> {
    let (sign, colour) = mark(change.kind);
    page.put_text(indent)?;
    page.put_marked(&format!("{sign} {name}"), colour)?;
    if let Some(what) = &change.what {
        page.put_text(&format!("  {what}"))?;
    }
    if change.kind == Happened::Changed {
        page.end_line()?;
        for field in said(&change.fields) {
            page.line(&format!("{indent}    {}: {} -> {}", field.name, text(&field.old), text(&field.new)))?;
        }
        return Ok(());
    }
    for field in &change.fields {
        let is_of_path = indent.len() > 2 && matches!(&*field.name, "parent_id" | "name");
        if let Some(value) = lone_value(change, field).filter(|_| !is_of_path) {
            page.put_text(&format!("  {}={}", field.name, text(value)))?;
        }
    }
    Ok(page.end_line()?)
}

/// Rows of a kind that are visible without a click.
pub(super) const UNFOLDED: usize = 20;

pub(super) fn code(text: &str) -> String {
    let text = escape(text);
    let longest = text.split(|c| c != '`').map(str::len).fold(0, usize::max);
    let fence = "`".repeat(longest + 1);
    // A blank separates a character at the edge from the fence; in a text of blanks only it would be visible.
    let edge = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    if text.is_empty() { "(empty)".to_owned() } else { format!("{fence}{edge}{text}{edge}{fence}") }
}

pub(super) struct Compared<'a> {
    pub(super) tables: Vec<TableDiff<'a>>,
    pub(super) differences: Vec<Differences>,
}

self_cell!(
    /// Two files inside of the archives, old and new, with their tables, which are built once for comparison and
    /// output.
    pub(super) struct Inner {
        owner: [Asset; 2],
        #[covariant]
        dependent: Compared,
    }
);

pub(super) fn note_columns(context: &Context, old: &Asset, new: &Asset, table: &TableDiff<'_>) {
    for (columns, asset) in table.lone_columns().iter().zip([old, new]) {
        if !columns.is_empty() {
            let name = asset.source().name();
            let note = format!("only here has {} {}: not compared", table.name(), columns.join(", "));
            context.note(name, &note);
        }
    }
}

pub(super) fn folder(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The ending of the last part of a path, with its dot.
pub(super) fn ending(key: &str) -> &str {
    let name = key.rsplit('/').next().unwrap_or(key);
    name.rfind('.').map_or("", |at| &name[at..])
}

pub(super) fn top(folder: &str, depth: usize) -> &str {
    folder.match_indices('/').nth(depth.max(1) - 1).map_or(folder, |(end, _)| &folder[..end])
}

/// The outputs of differences, once for all files.
#[derive(Default)]
pub(super) struct Out {
    /// Rows for machines, once there are any.
    pub(super) rows: Option<RowWriter<Stdout>>,
    /// The page on standard output, if the differences are shown as one.
    pub(super) page: Option<page::Tables>,
}

pub(super) fn unfiltered(tables: &[TableDiff<'_>]) -> Vec<Option<Filters>> {
    tables.iter().map(|_| Some([None, None])).collect()
}
