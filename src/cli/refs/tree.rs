//! Trees of references: what an entry refers to, and what that refers to in turn.

use super::super::ls::branch;
use super::super::stdout::Stdout;
use super::super::{Context, Failure, Format, Outcome};
use super::{RequestedEntry, Search};
use crate::id;
use crate::refs::{self, Edge, LinkedFile};
use crate::table::{Kind, Value};
use crate::write::rows::RowWriter;
use crate::write::text::TextPage;
use std::collections::HashSet;
use std::fmt;

/// Where the entries of a tree go.
enum TreeOutput {
    /// A line for each entry, for people.
    Lines(TextPage<Stdout>),
    /// A row for each entry.
    Rows(RowWriter<Stdout>),
}

/// An entry to which a reference leads.
struct TreeTarget {
    /// The path of the entry, or its id.
    path: String,
    /// The address of the file to which the path leads.
    found: Option<String>,
    /// Whether a file with another ending is in place of that of the path.
    is_replacement: bool,
    is_missing: bool,
}

impl fmt::Display for TreeTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found {
            Some(found) if self.is_replacement => write!(f, "{found}  (for {})", self.path),
            Some(found) => f.write_str(found),
            None if self.is_missing => write!(f, "{}  (missing)", self.path),
            None => f.write_str(&self.path),
        }
    }
}

impl TreeOutput {
    fn new(context: &Context) -> Result<Self, Failure> {
        Ok(match context.format() {
            Format::Text => Self::Lines(context.page()),
            _ => Self::Rows(context.rows_of([
                ("depth", Kind::Uint),
                ("column", Kind::Text),
                ("path", Kind::Text),
                ("found", Kind::Text),
                ("repeated", Kind::Bool),
            ])?),
        })
    }

    fn root(&mut self, name: &str) -> Result<(), Failure> {
        match self {
            Self::Lines(page) => page.line(name)?,
            Self::Rows(rows) => rows.row(&[0_u64.into(), Value::Null, name.into(), Value::Null, false.into()])?,
        }
        Ok(())
    }

    /// Writes the target of a reference in the last of the levels `open`. What a repeated target refers to stands below its first place.
    fn target(
        &mut self,
        open: &[impl ExactSizeIterator],
        column: &str,
        target: TreeTarget,
        is_repeated: bool,
    ) -> Result<(), Failure> {
        match self {
            Self::Lines(page) => {
                let again = if is_repeated { "  (shown above)" } else { "" };
                page.line(&format!("{}{column}  {target}{again}", branch(open)))?;
            }
            Self::Rows(rows) => rows.row(&[
                (open.len() as u64).into(),
                column.into(),
                target.path.into(),
                target.found.into(),
                is_repeated.into(),
            ])?,
        }
        Ok(())
    }

    fn finish(self) -> Outcome {
        match self {
            Self::Lines(mut page) => Ok(page.flush()?),
            Self::Rows(mut rows) => Ok(rows.finish()?),
        }
    }
}

impl Search<'_> {
    pub(super) fn trees(&self, entries: &[RequestedEntry], depth: usize) -> Outcome {
        let mut out = TreeOutput::new(self.context)?;
        for RequestedEntry { id, query, file, .. } in entries {
            let root = file.and_then(|file| self.root_of(file));
            let (mut id, mut query, mut file) = (*id, query.clone(), *file);
            if let Some(root) = root {
                let name = self.files[root].name().to_owned();
                self.context.note(&query, &format!("it refers to nothing; the tree is of {name}, which draws it"));
                (id, query, file) = (id::of_path(&name), name, Some(root));
            }
            match file {
                Some(file) => {
                    self.file_of.borrow_mut().insert(id, file);
                    out.root(&query)?;
                }
                None if self.has(id) => {
                    if let Some(user) = self.user_of(id) {
                        id = user;
                        let name = self.name(id);
                        let what = format!(
                            "it refers to nothing; the tree is of {name}, which uses it; --from lists all that do"
                        );
                        self.context.note(&query, &what);
                    }
                    out.root(&self.name(id))?;
                }
                None => {
                    self.context.not_found(&format!("{query:?}: is in none of the files"));
                    continue;
                }
            }
            let mut shown = HashSet::from([id]);
            // Depth first, without recursion: how deep references go is the file's to choose.
            let mut open = vec![self.edges(id).into_iter()];
            while let Some(level) = open.last_mut() {
                let Some((edge, target)) = level.next() else {
                    open.pop();
                    continue;
                };
                let first = shown.insert(edge.to);
                let below = if open.len() < depth || !first { self.edges(edge.to) } else { Vec::new() };
                out.target(&open, &edge.column, target, !first && !below.is_empty())?;
                if first {
                    open.push(below.into_iter());
                }
            }
        }
        out.finish()
    }

    /// The entry to begin the tree of an entry without references at: the first one that uses it, as a visual does a geometry, or
    /// the first one that uses that one.
    fn user_of(&self, id: u64) -> Option<u64> {
        /// A texture is used by a material, that by a visual, and that by a model. Each step reads all references.
        const STEPS: usize = 3;
        if !self.edges(id).is_empty() {
            return None;
        }
        let mut seen = vec![id];
        for _ in 0..STEPS {
            let above = seen.last().copied();
            let users = self.files.iter().flat_map(|file| self.scan(file, &|to, _| Some(to) == above).edges);
            let mut users = users.filter(|edge| edge.column != refs::PARENT).filter_map(|edge| edge.from);
            let Some(user) = users.find(|user| !seen.contains(user)) else { break };
            seen.push(user);
        }
        seen.pop().filter(|user| *user != id)
    }

    /// The file that a file without references belongs to by its name: of those with the same stem beside it, the one that no
    /// other one refers to, as the model of a geometry.
    pub(super) fn root_of(&self, file: usize) -> Option<usize> {
        let own = &self.files[file];
        if own.stated().is_some() {
            return None;
        }
        let (name, _) = own.name().rsplit_once('.')?;
        let is_beside = |other: &LinkedFile| other.name().rsplit_once('.').is_some_and(|(stem, _)| stem == name);
        let beside: Vec<usize> = (0..self.files.len())
            .filter(|&at| is_beside(&self.files[at]) && self.files[at].stated().is_some())
            .collect();
        let refers = |from: usize, to: usize| {
            let edges = self.files[from].stated().into_iter().flat_map(|found| &found.edges);
            let mut found = edges.filter_map(|edge| self.destination(&self.files[from], edge)?.asset);
            found.any(|found| found == to)
        };
        let is_root = |&&at: &&usize| !beside.iter().any(|&other| other != at && refers(other, at));
        beside.iter().find(is_root).copied()
    }

    /// The references of an entry, each target once, without its folder; each with its target.
    fn edges(&self, id: u64) -> Vec<(Edge, TreeTarget)> {
        let mut edges = Vec::new();
        let mut seen = HashSet::from([id]);
        let file = self.file_of.borrow().get(&id).copied();
        for (number, asset) in self.files.iter().enumerate() {
            for edge in self.references(asset, number, id, file).edges {
                if edge.column != refs::PARENT && seen.insert(edge.to) {
                    let target = self.target_of(asset, &edge);
                    edges.push((edge, target));
                }
            }
        }
        edges
    }

    fn target_of(&self, from: &LinkedFile, edge: &Edge) -> TreeTarget {
        let path = edge.text.clone().unwrap_or_else(|| self.name(edge.to));
        let found = self.destination(from, edge);
        TreeTarget {
            path,
            is_replacement: found.as_ref().is_some_and(|found| found.is_replacement),
            is_missing: found.is_none() && from.stated().is_some() && !self.has(edge.to),
            found: found.map(|found| found.address),
        }
    }

    fn name(&self, id: u64) -> String {
        self.path(id).unwrap_or_else(|| Value::Id64(id).to_string())
    }
}
