//! A walk over all values in a value, without recursion: values may be nested as deep as the file is long, and may contain
//! themselves.

use super::arena::Node;
use super::leaf::NodeKind;
use crate::budget::Budget;
use crate::error::{ErrorKind, Result};
use crate::table::path::{push_index, push_name};
use crate::table::{Value, Visitor};
use std::borrow::Cow;
use std::fmt::Write as _;

/// How deep values may be nested. The game's are nested 10 deep.
const DEPTH: usize = 256;

#[derive(Debug, Clone, Copy)]
pub(super) enum Event<'a> {
    Key(Node<'a>),
    /// The next value is this item of a list.
    Item(usize),
    /// A container that has values begins.
    Begin(NodeKind),
    /// The container that began last ends.
    End(NodeKind),
    /// A value without values in it: a leaf, or a container that is empty.
    Leaf(Node<'a>),
    /// A container that the walk is in already, at this depth.
    Within(Node<'a>, usize),
}

/// An open container, and the number of its next value.
#[derive(Clone)]
struct Open<'a> {
    node: Node<'a>,
    kind: NodeKind,
    next: usize,
}

/// The walk.
#[derive(Clone)]
pub(super) struct Walker<'a> {
    open: Vec<Open<'a>>,
    /// The next value, whose key was given.
    value: Option<Node<'a>>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(root: Node<'a>) -> Self {
        Self { open: Vec::new(), value: Some(root) }
    }

    /// Returns the next event. A value costs one unit of `budget`, a text also its bytes, each time that the walk meets it: a pickle can
    /// share values and texts by two bytes each.
    pub(super) fn next(&mut self, budget: &Budget) -> Result<Option<Event<'a>>> {
        if let Some(node) = self.value.take() {
            let kind = node.kind();
            budget.spend(node.text_size().saturating_add(1)).map_err(|kind| node.error(kind))?;
            if !kind.is_container() || node.is_empty() {
                return Ok(Some(Event::Leaf(node)));
            }
            if let Some(depth) = self.open.iter().position(|open| open.node == node) {
                return Ok(Some(Event::Within(node, depth)));
            }
            if self.open.len() >= DEPTH {
                let value = self.open.len().saturating_add(1) as u64;
                return Err(node.error(ErrorKind::Limit {
                    what: "depth of values in values",
                    value,
                    limit: DEPTH as u64,
                }));
            }
            self.open.push(Open { node, kind, next: 0 });
            return Ok(Some(Event::Begin(kind)));
        }
        let Some(open) = self.open.last_mut() else { return Ok(None) };
        let at = open.next;
        open.next = open.next.saturating_add(1);
        let (event, value) = match open.kind {
            NodeKind::List => (Event::Item(at), open.node.item(at)),
            _ => match open.node.member(at) {
                Some((key, value)) => (Event::Key(key), Some(value)),
                None => (Event::Item(at), None),
            },
        };
        if let Event::Key(key) = event {
            budget.spend(key.text_size()).map_err(|kind| key.error(kind))?;
        }
        if value.is_none() {
            let kind = open.kind;
            self.open.pop();
            return Ok(Some(Event::End(kind)));
        }
        self.value = value;
        Ok(Some(event))
    }
}

/// The text of a key, as the name of a member in JSON.
pub(super) fn key_text(key: Node<'_>) -> Result<String> {
    Ok(match key.kind() {
        NodeKind::Null => "None".to_owned(),
        NodeKind::List => {
            let mut text = "(".to_owned();
            for (n, item) in key.items().enumerate() {
                text.push_str(if n == 0 { "" } else { ", " });
                // A tuple in a tuple is not told apart further.
                match item.kind() {
                    NodeKind::Text => text.push_str(&text_of(item)?),
                    NodeKind::Null => text.push_str("None"),
                    kind if kind.is_container() => text.push('…'),
                    // Writing to a String cannot fail.
                    _ => drop(write!(text, "{}", item.value()?)),
                }
            }
            text.push(')');
            text
        }
        NodeKind::Text => text_of(key)?.into_owned(),
        _ => key.value()?.to_string(),
    })
}

/// The text of a node of the kind of texts. Classes are of this kind, and have none.
fn text_of(node: Node<'_>) -> Result<Cow<'_, str>> {
    node.text()?.ok_or_else(|| node.error(ErrorKind::damaged("a class is part of a key")))
}

/// Appends the step to the member with this key.
fn push_key(path: &mut String, key: Node<'_>) -> Result<()> {
    match key.kind() {
        NodeKind::Text => push_name(path, &text_of(key)?),
        _ => push_index(path, key_text(key)?),
    }
    Ok(())
}

/// The path to the value that a walk is at.
#[derive(Debug, Clone, Default)]
pub(super) struct Trail {
    path: String,
    /// The length of the path at each open container.
    marks: Vec<usize>,
}

impl Trail {
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The path to the open container at `depth`.
    pub(super) fn path_at(&self, depth: usize) -> &str {
        let mark = self.marks.get(depth).and_then(|len| self.path.get(..*len));
        mark.expect("a walk asks for the containers that it is in")
    }

    pub(super) fn follow(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::Begin(_) => self.marks.push(self.path.len()),
            Event::End(_) => {
                self.marks.pop();
            }
            Event::Key(key) => {
                self.back();
                push_key(&mut self.path, key)?;
            }
            Event::Item(index) => {
                self.back();
                push_index(&mut self.path, index);
            }
            Event::Leaf(_) | Event::Within(..) => {}
        }
        Ok(())
    }

    fn back(&mut self) {
        self.path.truncate(self.marks.last().map_or(0, |len| *len));
    }
}

/// Shows `root` whole. A container in itself is shown as the path to it.
pub(super) fn show(root: Node<'_>, budget: &Budget, out: &mut dyn Visitor) -> Result<()> {
    let mut walker = Walker::new(root);
    let mut trail = Trail::default();
    while let Some(event) = walker.next(budget)? {
        trail.follow(event)?;
        match event {
            Event::Key(key) => out.key(&key_text(key)?)?,
            Event::Item(_) => {}
            Event::Begin(NodeKind::List) => out.begin_list()?,
            Event::Begin(_) => out.begin_map()?,
            Event::End(NodeKind::List) => out.end_list()?,
            Event::End(_) => out.end_map()?,
            Event::Leaf(node) => match node.kind() {
                NodeKind::List => out.value(&Value::List(Vec::new()))?,
                kind if kind.is_container() => out.value(&Value::Map(Vec::new()))?,
                _ => out.leaf(&node.value()?)?,
            },
            Event::Within(_, depth) => out.leaf(&within(&trail, depth))?,
        }
    }
    Ok(())
}

/// The text in place of a container that is in itself.
pub(super) fn within(trail: &Trail, depth: usize) -> Value<'static> {
    Value::owned(format!("-> {}", trail.path_at(depth)))
}
