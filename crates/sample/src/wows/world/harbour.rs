//! The harbour: two islands, a lighthouse, and the ships at anchor.

use super::cruiser::{FLEET, PROPS};
use super::database::{ITEMS, Item, material_path};
use super::shape::{Point, UNIT, scale};
use crate::wows::geometry::GeometryBuilder;
use crate::wows::space::{IDENTITY, Placed, SpaceModel, SpaceSet, write_models, write_space};
use assetq_core::codec::{cityhash64, murmur3};

const GEOMETRY: &str = "spaces/harbour/models.geometry";

/// The instances, in metres: the path of a model without its ending, the place, whether it looks back, and a name.
fn places() -> Vec<(String, Point, bool, Option<String>)> {
    let [.., plane, north, south, lighthouse, buoy] = PROPS.map(|(path, _)| path.to_owned());
    let mut all = vec![
        (north, [-620.0, 0.0, 380.0], false, None),
        (south.clone(), [560.0, 0.0, -420.0], false, None),
        (south, [780.0, 0.0, 420.0], true, None),
        (lighthouse.clone(), [455.0, 6.0, -330.0], false, Some("south_light".to_owned())),
        (lighthouse, [-470.0, 10.0, 330.0], true, Some("north_light".to_owned())),
        (plane, [-20.0, 0.0, 90.0], false, None),
    ];
    // A channel between two rows of buoys.
    let channel = (0..8).map(|n| [if n % 2 == 0 { -20.0 } else { 30.0 }, 0.0, 180.0 + 60.0 * (n / 2) as f32]);
    all.extend(channel.map(|at| (buoy.clone(), at, false, None)));
    let berths = [
        (0, [-150.0, 0.0, 120.0]),
        (1, [60.0, 0.0, -10.0]),
        (3, [210.0, 0.0, 140.0]),
        (2, [-240.0, 0.0, -210.0]),
        (2, [-290.0, 0.0, -190.0]),
    ];
    for (number, (ship, at)) in berths.into_iter().enumerate() {
        for end in ["", "_Bow", "_Stern"] {
            let name = end.is_empty().then(|| format!("berth_{}", number + 1));
            all.push((format!("{}{end}", FLEET[ship].path()), at, at[0] > 0.0, name));
        }
    }
    all
}

/// The models that stand in the harbour, each once.
fn items() -> impl Iterator<Item = &'static Item> {
    let placed = places();
    ITEMS.iter().filter(move |item| placed.iter().any(|(path, ..)| *path == item.path))
}

/// The id of a mapping of the merged meshes.
fn mapping(item: &Item, group: &str, what: &str) -> u32 {
    murmur3(format!("{}.{group}.{what}", item.path).as_bytes())
}

/// The meshes of all models in one file, coarse ones where there are several levels.
pub fn geometry() -> Vec<u8> {
    let mut builder = GeometryBuilder::new();
    let parts = items().flat_map(|item| item.model.coarse(1).map(move |group| (item, group)));
    let parts = parts.map(|(item, group)| {
        let ids = ["vertices", "indices"].map(|what| mapping(item, &group.name, what));
        (ids, item.model.mesh_of(group))
    });
    super::model::rigid(&mut builder, parts);
    builder.build()
}

/// `models.bin`.
pub fn models() -> Vec<u8> {
    let models = items().map(|item| {
        let sets = item.model.coarse(1).map(|group| SpaceSet {
            name: murmur3(group.name.as_bytes()),
            material: murmur3(group.skin.shader().as_bytes()),
            vertices: mapping(item, &group.name, "vertices"),
            indices: mapping(item, &group.name, "indices"),
            mfm: cityhash64(material_path(group.skin).as_bytes()),
        });
        SpaceModel {
            id: cityhash64(format!("{}.model", item.path).as_bytes()),
            visual: cityhash64(format!("{}.visual", item.path).as_bytes()),
            geometry: cityhash64(GEOMETRY.as_bytes()),
            bounds: item.model.bounds(),
            sets: sets.collect(),
        }
    });
    write_models(&models.collect::<Vec<_>>())
}

/// `space.bin`.
pub fn space() -> Vec<u8> {
    let placed = places().into_iter().map(|(path, at, is_turned, name)| {
        let mut transform = IDENTITY;
        transform[12..15].copy_from_slice(&scale(at, 1.0 / UNIT));
        if is_turned {
            (transform[0], transform[10]) = (-1.0, -1.0);
        }
        Placed { id: cityhash64(format!("{path}.model").as_bytes()), transform, name }
    });
    write_space(&placed.collect::<Vec<_>>())
}
