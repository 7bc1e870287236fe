//! Trees of references: what an entry refers to, and what that refers to in turn.

use super::super::ls::branch;
use super::super::Outcome;
use super::{RequestedEntry, Search};
use crate::id;
use crate::refs::{self, Edge, LinkedFile};
use crate::table::Value;
use std::collections::HashSet;

impl Search<'_> {
    pub(super) fn trees(&self, entries: &[RequestedEntry], depth: usize) -> Outcome {
        let mut page = self.context.page();
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
                    page.line(&query)?;
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
                    page.line(&self.name(id))?;
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
                let Some((edge, name)) = level.next() else {
                    open.pop();
                    continue;
                };
                let first = shown.insert(edge.to);
                let below = if open.len() < depth || !first { self.edges(edge.to) } else { Vec::new() };
                let again = if first || below.is_empty() { "" } else { "  (shown above)" };
                page.line(&format!("{}{}  {name}{again}", branch(&open), edge.column))?;
                if first {
                    open.push(below.into_iter());
                }
            }
        }
        Ok(page.flush()?)
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
    fn root_of(&self, file: usize) -> Option<usize> {
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

    /// The references of an entry, each target once, without its folder; each with the name of its target.
    fn edges(&self, id: u64) -> Vec<(Edge, String)> {
        let mut edges = Vec::new();
        let mut seen = HashSet::from([id]);
        let file = self.file_of.borrow().get(&id).copied();
        for (number, asset) in self.files.iter().enumerate() {
            for edge in self.references(asset, number, id, file).edges {
                if edge.column != refs::PARENT && seen.insert(edge.to) {
                    let name = self.target_of(asset, &edge);
                    edges.push((edge, name));
                }
            }
        }
        edges
    }

    /// The name of the target of a reference: the address of the file that a path leads to, else the path, and what is wrong with it.
    fn target_of(&self, from: &LinkedFile, edge: &Edge) -> String {
        let stated = edge.text.clone().unwrap_or_else(|| self.name(edge.to));
        match self.destination(from, edge) {
            Some(found) if found.is_replacement => format!("{}  (for {stated})", found.address),
            Some(found) => found.address,
            None if from.stated().is_some() && !self.has(edge.to) => format!("{stated}  (missing)"),
            None => stated,
        }
    }

    fn name(&self, id: u64) -> String {
        self.path(id).unwrap_or_else(|| Value::Id64(id).to_string())
    }
}
