//! Rusty Hearts `.wdata`: finds a way over the waypoints of a map, and what stands around its end.
//!
//! ```sh
//! cargo run --example wdata -- town.wdata
//! ```
//!
//! Without a file it reads a sample.

use assetq::formats::Reader as _;
use assetq::formats::rusty_hearts::wdata::{BoxType, Map};
use assetq::table::{Region, column_index};
use assetq::{Result, Source};
use assetq_sample::{Size, wdata::demo};
use std::env;

/// Opens the map, follows its waypoints from the first one, and looks around at the last.
pub fn main() -> Result<()> {
    let source = match env::args().nth(1) {
        Some(path) => Source::open(path)?,
        None => Source::from_vec("town.wdata", demo(1, Size::Small)),
    };
    let map = Map::open(source)?;

    // The table in the header leads to the boxes of a type; boxes of other types are not read.
    for box_type in map.box_types()? {
        println!("{}: {}", box_type.name(), map.boxes(box_type)?.len());
    }

    let Some(mut here) = map.boxes(BoxType::WaypointBox)?.get(0) else { return Ok(()) };
    let mut length = 0.0;
    for _ in 0..3 {
        let Some((link, distance)) = here.ints("links")?.last().zip(here.floats("link_distances")?.last()) else {
            break;
        };
        let Some((_, next)) = map.waypoint(link.get())? else { break };
        length += distance.get();
        println!("{} -> {}", here.name()?, next.name()?);
        here = next;
    }
    println!("{length:.1} in all");

    // Rows with a position can be queried by position, as `assetq ls --at` does.
    let (Some(obb), Some(table)) = (here.obb()?, map.table("event_boxes")) else { return Ok(()) };
    let [Some(kind), Some(name)] = ["type_name", "name"].map(|column| column_index(&*table, column)) else {
        return Ok(());
    };
    let place = Region::Point(obb.position.map(|number| number.get().into()));
    let mut rows = table.cursor(0);
    while rows.advance()? {
        if let Some(true) = table.is_at(rows.row(), &place).transpose()? {
            println!("there: {} {}", rows.value(kind)?, rows.value(name)?);
        }
    }
    Ok(())
}
