//! Graphs in a page: the values of an entry in the order in which they are visited, as columns.
//!
//! A node is a map, a list or a leaf. The columns are the kind, the key in its map, its stated type, the text of a leaf, and the number of
//! nodes in it, including itself: the distance to the next sibling.

use super::column::short;
use super::{Block, Page, PageSection, TextColumn, numbers};
use crate::error::Result;
use crate::reader::Reader;
use crate::table::{Value, Visitor};
use crate::threads::prelude::*;
use crate::write::plain;
use serde_json::json;

/// Nodes of a graph that a page has.
const MOST: usize = 1 << 22;
/// Bytes of text of a graph that a page has.
const MOST_TEXT: usize = 128 << 20;

/// The names of a map's first entries that describe the value itself: see [`Graphs::show_typed`](crate::reader::Graphs::show_typed).
const TYPE: &str = "$type";
const VALUE: &str = "$value";

const NULL: u8 = 0;
const MAP: u8 = 1;
const LIST: u8 = 2;
const TEXT: u8 = 3;
const PLAIN: u8 = 4;

#[derive(Debug, Default)]
struct Nodes {
    kinds: Vec<u8>,
    keys: TextColumn,
    types: TextColumn,
    texts: TextColumn,
    sizes: Vec<usize>,
    open: Vec<Open>,
    key: Option<String>,
    /// A map that has begun, with only its type so far.
    begun: Option<Begun>,
    /// Whether the next leaf is the type of that map.
    is_type: bool,
    stated: Option<String>,
    bytes: usize,
    left_out: usize,
    scratch: String,
}

#[derive(Debug, Default)]
struct Begun {
    key: Option<String>,
    stated: Option<String>,
}

#[derive(Debug, Clone, Copy)]
enum Open {
    Node(usize),
    /// A map that is nothing but the type of its value.
    Type,
    /// A branch without room.
    Nothing,
}

impl Nodes {
    /// Adds a node with children, if there is room for it.
    fn branch(&mut self, kind: u8) -> Result<()> {
        let number = self.kinds.len();
        let has_room = self.node(kind, None)?;
        self.open.push(if has_room { Open::Node(number) } else { Open::Nothing });
        Ok(())
    }

    /// Adds a node, and returns whether there is room for it.
    fn node(&mut self, kind: u8, text: Option<&str>) -> Result<bool> {
        let (key, stated) = (self.key.take(), self.stated.take());
        if self.kinds.len() >= MOST || self.bytes >= MOST_TEXT {
            self.left_out += 1;
            return Ok(false);
        }
        self.bytes += text.map_or(0, str::len) + key.as_ref().map_or(0, String::len);
        self.keys.push(key.as_deref())?;
        self.types.push(stated.as_deref())?;
        self.texts.push(text)?;
        self.kinds.push(kind);
        self.sizes.push(1);
        Ok(true)
    }

    /// Makes a node of the map that has begun, if any.
    fn settle(&mut self) -> Result<()> {
        let Some(Begun { key, stated }) = self.begun.take() else { return Ok(()) };
        let key = std::mem::replace(&mut self.key, key);
        let stated = std::mem::replace(&mut self.stated, stated);
        self.branch(MAP)?;
        (self.key, self.stated) = (key, stated);
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.settle()?;
        if let Some(Open::Node(begin)) = self.open.pop() {
            self.sizes[begin] = self.kinds.len() - begin;
        }
        Ok(())
    }
}

impl Visitor for Nodes {
    fn begin_map(&mut self) -> Result<()> {
        self.settle()?;
        self.begun = Some(Begun { key: self.key.take(), stated: self.stated.take() });
        Ok(())
    }

    fn key(&mut self, name: &str) -> Result<()> {
        match &mut self.begun {
            Some(Begun { stated: None, .. }) if name == TYPE => {
                self.is_type = true;
                return Ok(());
            }
            Some(Begun { key, stated: stated @ Some(_) }) if name == VALUE => {
                (self.key, self.stated) = (key.take(), stated.take());
                self.begun = None;
                self.open.push(Open::Type);
                return Ok(());
            }
            _ => {}
        }
        self.settle()?;
        self.key = Some(name.to_owned());
        Ok(())
    }

    fn end_map(&mut self) -> Result<()> {
        self.end()
    }

    fn begin_list(&mut self) -> Result<()> {
        self.settle()?;
        self.branch(LIST)
    }

    fn end_list(&mut self) -> Result<()> {
        self.end()
    }

    fn leaf(&mut self, value: &Value<'_>) -> Result<()> {
        if std::mem::take(&mut self.is_type)
            && let Some(begun) = &mut self.begun
        {
            begun.stated = value.as_text().map(Into::into);
            return Ok(());
        }
        self.settle()?;
        let kind = match value {
            Value::Null => NULL,
            Value::Text(_) | Value::Utf16(_) | Value::Guid(_) => TEXT,
            _ => PLAIN,
        };
        let mut scratch = std::mem::take(&mut self.scratch);
        self.node(kind, plain::text(value, &mut scratch)?)?;
        self.scratch = scratch;
        Ok(())
    }
}

/// Adds a part for each graph of `reader`, and returns whether they are whole. Calls `met` with the damage in them, and
/// shows the values that could be read.
pub fn add(page: &mut Page<'_>, reader: &dyn Reader, met: &mut dyn FnMut(crate::Error)) -> Result<bool> {
    let mut are_whole = true;
    let Some(graphs) = reader.graphs() else { return Ok(true) };
    for (n, entry) in graphs.names().iter().enumerate() {
        let mut nodes = Nodes::default();
        let fault = graphs.show(entry, &mut nodes).err();
        nodes.settle()?;
        while !nodes.open.is_empty() {
            nodes.end()?;
        }
        let Nodes { kinds, keys, types, texts, sizes, left_out, .. } = nodes;
        let blocks = ["kinds", "sizes", "keys", "types", "texts"].par_iter().with_max_len(1).map(|name| {
            let bytes = match *name {
                "kinds" => numbers(kinds.iter().map(|kind| i64::from(*kind)).collect()),
                "sizes" => numbers(sizes.iter().map(|size| short(*size).into()).collect()),
                "keys" => keys.to_bytes(),
                "types" => types.to_bytes(),
                _ => texts.to_bytes(),
            };
            Ok((format!("g{n}.{name}"), Block::new(&bytes)?))
        });
        page.add_all(blocks.collect())?;
        let meta = json!({ "entry": entry, "block": format!("g{n}"), "nodes": kinds.len(), "leftOut": left_out,
            "fault": fault.as_ref().map(ToString::to_string) });
        are_whole &= fault.is_none() && left_out == 0;
        page.part(PageSection { id: format!("graph={entry}"), kind: "tree", title: entry.to_string(), meta });
        if let Some(error) = fault {
            met(error);
        }
    }
    Ok(are_whole)
}
