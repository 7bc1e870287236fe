//! The graph of waypoints.

use super::{BoxType, Map, MapRecord};
use crate::error::Result;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

const LINKS: usize = BoxType::WaypointBox.shape().number("links");
const DISTANCES: usize = BoxType::WaypointBox.shape().number("link_distances");
pub(super) const RANGE: usize = BoxType::WaypointBox.shape().number("range");

#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Link<'a> {
    /// The waypoint that has the link, and its number among the waypoints.
    pub from: (usize, MapRecord<'a>),
    pub to_id: i32,
    /// The waypoint of that id, if there is one.
    pub to: Option<(usize, MapRecord<'a>)>,
    pub distance: f32,
}

/// The graph, as one walk over the waypoints finds it.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// For each link, its waypoint and its number in the waypoint's list.
    pub(super) links: Vec<(u32, u32)>,
    /// The first waypoint of each id.
    by_id: HashMap<i32, u32>,
    /// Waypoints with the id of an earlier waypoint.
    pub(super) doubles: Vec<u32>,
}

impl Map {
    pub(super) fn graph(&self) -> Result<&Graph> {
        self.graph.get_or_try_init(|| {
            let waypoints = self.boxes(BoxType::WaypointBox)?;
            waypoints.check()?;
            let mut graph = Graph::default();
            for (number, waypoint) in (0u32..).zip(waypoints.iter()) {
                match graph.by_id.entry(id_of(&waypoint)?) {
                    Entry::Vacant(free) => drop(free.insert(number)),
                    Entry::Occupied(_) => graph.doubles.push(number),
                }
                graph.links.extend((0u32..).zip(waypoint.ints(LINKS)?).map(|(at, _)| (number, at)));
            }
            Ok(graph)
        })
    }

    /// The link with this number, in the order of their waypoints.
    pub fn link(&self, number: usize) -> Result<Option<Link<'_>>> {
        let Some(&(from, at)) = self.graph()?.links.get(number) else { return Ok(None) };
        let (from, at) = (from as usize, at as usize);
        let Some(record) = self.boxes(BoxType::WaypointBox)?.get(from) else { return Ok(None) };
        let to_id = record.ints(LINKS)?.get(at).map(|id| id.get());
        let distance = record.floats(DISTANCES)?.get(at).map(|d| d.get());
        let (Some(to_id), Some(distance)) = (to_id, distance) else { return Ok(None) };
        Ok(Some(Link { from: (from, record), to_id, to: self.waypoint(to_id)?, distance }))
    }

    /// All links, in the order of their waypoints.
    pub fn links(&self) -> impl Iterator<Item = Result<Link<'_>>> {
        (0..).map_while(|number| self.link(number).transpose())
    }

    /// The first waypoint that has this id, and its number.
    pub fn waypoint(&self, id: i32) -> Result<Option<(usize, MapRecord<'_>)>> {
        let Some(&number) = self.graph()?.by_id.get(&id) else { return Ok(None) };
        let number = number as usize;
        Ok(self.boxes(BoxType::WaypointBox)?.get(number).map(|record| (number, record)))
    }
}

pub(super) fn id_of(waypoint: &MapRecord<'_>) -> Result<i32> {
    // Its first own field.
    waypoint.own_fields()?.i32().map_err(|e| e.context("id"))
}
