//! Camouflages of World of Warships: the file that describes them (docs/formats/textures.md §3.1), and a ship's own.

use crate::error::{ErrorKind, Result};
use crate::scene::{Coat, Coats};
use crate::source::Source;
use roxmltree::Node;
use std::collections::BTreeMap;

/// The path of the file in a game.
pub(super) const PATH: &str = "camouflages.xml";
/// XML elements and texts that the file may have.
const MAX_NODES: u32 = 1 << 20;
/// The part of a ship that counts for others where a camouflage is tiled.
const TILE: &str = "tile";
/// A colour that a scheme does not state.
const BLACK: [f32; 3] = [0.0; 3];

#[derive(Debug)]
pub(super) struct Camouflages {
    all: Vec<Camouflage>,
}

#[derive(Debug)]
struct Camouflage {
    title: String,
    is_tiled: bool,
    /// The texture of each kind of part, by its name in small letters.
    textures: BTreeMap<String, String>,
    /// For texels of black, red, green and blue: linear.
    colours: Option<[[f32; 3]; 4]>,
    /// The scale and the offset of coordinates, by kind of part.
    transforms: BTreeMap<String, ([f32; 2], [f32; 2])>,
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|child| child.has_tag_name(name))
}

/// The elements in the child called `name`.
fn elements<'a, 'i>(node: Node<'a, 'i>, name: &str) -> impl Iterator<Item = Node<'a, 'i>> {
    child(node, name).into_iter().flat_map(|all| all.children()).filter(Node::is_element)
}

/// The text of the child called `name`, if it has one.
fn text<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    child(node, name)?.text().map(str::trim).filter(|text| !text.is_empty())
}

fn numbers<const N: usize>(text: &str) -> Option<[f32; N]> {
    let mut all = text.split_whitespace().map(|word| word.parse::<f32>().ok().filter(|number| number.is_finite()));
    let mut found = [0.0; N];
    found.iter_mut().try_for_each(|number| all.next().flatten().map(|next| *number = next))?;
    Some(found)
}

impl Camouflages {
    /// The camouflages called as in `wanted`, each with its title, as they are on `ship`. Camouflages of other ships are left
    /// out.
    ///
    /// # Errors
    /// `Text` and `Damaged` when the file is no XML.
    pub(super) fn of_ship(source: &Source, ship: &str, wanted: &[(String, String)]) -> Result<Self> {
        let view = source.view("camouflages");
        let content = view.utf8(source.bytes())?;
        let options = roxmltree::ParsingOptions { nodes_limit: MAX_NODES, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(content, options)
            .map_err(|error| view.error(ErrorKind::damaged(format!("it is not XML: {error}"))))?;
        let root = document.root_element();
        let groups: Vec<&str> = elements(root, "shipgroups.xml")
            .filter(|group| text(*group, "ships").is_some_and(|ships| has_word(ships, ship)))
            .map(|group| group.tag_name().name())
            .collect();
        // One pass: a file describes thousands of camouflages.
        let mut found: BTreeMap<&str, (i32, Node<'_, '_>)> = BTreeMap::new();
        let mut schemes: BTreeMap<&str, Node<'_, '_>> = BTreeMap::new();
        for node in root.descendants() {
            if node.has_tag_name("colorScheme") {
                schemes.extend(text(node, "name").map(|name| (name, node)));
            } else if node.has_tag_name("camouflage")
                && let Some(name) = text(node, "name").filter(|name| wanted.iter().any(|(wanted, _)| wanted == name))
                && let Some(rank) = rank(node, ship, &groups)
                && found.get(name).is_none_or(|(known, _)| *known < rank)
            {
                found.insert(name, (rank, node));
            }
        }
        let all = wanted.iter().filter_map(|(name, title)| {
            let (_, node) = found.get(name.as_str())?;
            let scheme = text(*node, "colorSchemes").and_then(|all| all.split_whitespace().next());
            Some(Camouflage::new(title, *node, scheme.and_then(|name| schemes.get(name)).copied()))
        });
        Ok(Self { all: all.collect() })
    }
}

impl Camouflage {
    fn new(title: &str, node: Node<'_, '_>, scheme: Option<Node<'_, '_>>) -> Self {
        let textures = elements(node, "Textures").filter_map(|texture| {
            let kind = texture.tag_name().name().to_ascii_lowercase();
            // Gloss, metal and animations of the camouflage.
            let is_colour = !kind.ends_with("_mgn") && !kind.ends_with("_animmap");
            let path = texture.text().map(str::trim).filter(|path| is_colour && !path.is_empty())?;
            Some((kind, path.to_owned()))
        });
        let transforms = elements(node, "UV").map(|transform| {
            let scale = text(transform, "scale").and_then(numbers).unwrap_or([1.0; 2]);
            let offset = text(transform, "offset").and_then(numbers).unwrap_or([0.0; 2]);
            (transform.tag_name().name().to_ascii_lowercase(), (scale, offset))
        });
        let colours = scheme.map(|scheme| {
            ["color0", "color1", "color2", "color3"].map(|name| text(scheme, name).and_then(numbers).unwrap_or(BLACK))
        });
        Self {
            title: title.to_owned(),
            is_tiled: text(node, "tiled").is_some_and(|text| text.eq_ignore_ascii_case("true")),
            textures: textures.collect(),
            colours,
            transforms: transforms.collect(),
        }
    }
}

/// How closely a description fits a ship of these groups: 2 for it alone, 1 for its group, 0 for all ships.
fn rank(node: Node<'_, '_>, ship: &str, groups: &[&str]) -> Option<i32> {
    let targets = node.children().filter(|child| child.has_tag_name("targetShip"));
    let targets: Vec<&str> = targets.filter_map(|target| target.text()).map(str::trim).collect();
    let of_groups = text(node, "shipGroups");
    if targets.contains(&ship) {
        Some(2)
    } else if of_groups.is_some_and(|all| groups.iter().any(|group| has_word(all, group))) {
        Some(1)
    } else {
        (targets.is_empty() && of_groups.is_none()).then_some(0)
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split_whitespace().any(|found| found == word)
}

/// The kind of part that a material is of, by the name of its file; `None` for parts that no camouflage covers.
fn part_of(material: &str) -> Option<&'static str> {
    let file = crate::file_name(material);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let small = stem.to_ascii_lowercase();
    if ["glass", "_wire", "_alpha", "razlom"].iter().any(|word| small.contains(word)) {
        return None;
    }
    if small.contains("_deckhouse") {
        return Some("deckhouse");
    }
    if small.contains("_bulge") {
        return Some("bulge");
    }
    // Nation, kind, number: JGA010_25mm_Type96.
    Some(match stem.as_bytes() {
        [nation, kind, more, ..] if [nation, kind, more].iter().all(|letter| letter.is_ascii_uppercase()) => match kind
        {
            b'G' if *more == b'T' => "torpedo",
            b'G' => "gun",
            b'D' | b'F' => "director",
            b'A' => "plane",
            b'R' => "misc",
            _ => TILE,
        },
        _ => TILE,
    })
}

impl Coats for Camouflages {
    fn names(&self) -> Vec<String> {
        self.all.iter().map(|camouflage| camouflage.title.clone()).collect()
    }

    fn coat(&self, number: usize, material: &str) -> Option<Coat> {
        let camouflage = self.all.get(number)?;
        let part = part_of(material)?;
        // A tiled pattern covers all parts; the hull has two names.
        let kinds = [Some(part), (part == TILE).then_some("hull"), camouflage.is_tiled.then_some(TILE)];
        let mut kinds = kinds.into_iter().flatten();
        let texture = kinds.clone().find_map(|kind| camouflage.textures.get(kind))?.clone();
        let (scale, offset) =
            kinds.find_map(|kind| camouflage.transforms.get(kind)).copied().unwrap_or(([1.0; 2], [0.0; 2]));
        Some(Coat { texture, colours: camouflage.colours, is_tiled: camouflage.is_tiled, scale, offset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: &str = "<data>
        <shipgroups.xml><USA_1><ships>PASB001_A PASB002_B</ships></USA_1></shipgroups.xml>
        <colorScheme><name>grey</name><color0>0 0 0 1</color0><color1>.5 0.25 1 1</color1></colorScheme>
        <camouflage><name>camo_tile</name><tiled>True</tiled><colorSchemes>grey other</colorSchemes>
            <Textures><Tile>content/all.dds</Tile><Tile_mgn>content/all_mgn.dds</Tile_mgn></Textures></camouflage>
        <camouflage><name>camo_tile</name><tiled>true</tiled><shipGroups>USA_1</shipGroups>
            <Textures><Tile>content/usa.dds</Tile></Textures><UV><Gun><scale>2 3</scale></Gun></UV></camouflage>
        <camouflage><name>mat_own</name><targetShip>PASB001_A</targetShip>
            <Textures><Hull>content/a.dds</Hull></Textures></camouflage>
        </data>";

    fn of_ship(ship: &str) -> Camouflages {
        let wanted = ["camo_tile", "mat_own", "none"].map(|name| (name.to_owned(), name.to_uppercase()));
        Camouflages::of_ship(&Source::from_vec(PATH, XML.as_bytes().to_vec()), ship, &wanted).unwrap()
    }

    #[test]
    fn the_description_of_the_ship_or_its_group_counts() {
        for (ship, titles, texture) in [
            ("PASB001_A", &["CAMO_TILE", "MAT_OWN"][..], "content/usa.dds"),
            ("PASB002_B", &["CAMO_TILE"], "content/usa.dds"),
            ("PJSB001_C", &["CAMO_TILE"], "content/all.dds"),
        ] {
            let all = of_ship(ship);
            assert_eq!(all.names(), titles, "{ship}");
            assert_eq!(all.coat(0, "content/ASB001/ASB001_Hull.mfm").unwrap().texture, texture, "{ship}");
        }
    }

    #[test]
    fn a_coat_has_the_colours_and_the_scale_of_its_part() {
        let coat = of_ship("PJSB001_C").coat(0, "AGM034.mfm").unwrap();
        assert_eq!(coat.colours.unwrap()[1], [0.5, 0.25, 1.0]);
        assert_eq!((coat.is_tiled, coat.scale), (true, [1.0, 1.0]));
        let usa = of_ship("PASB001_A");
        assert_eq!(usa.coat(0, "AGM034.mfm").unwrap().scale, [2.0, 3.0]);
        assert_eq!(usa.coat(1, "ASB001_Hull.mfm").unwrap().texture, "content/a.dds");
        assert_eq!(usa.coat(1, "AGM034.mfm"), None, "the camouflage paints the hull alone");
        assert_eq!(usa.coat(0, "ASB001_glass.mfm"), None);
    }

    #[test]
    fn what_is_no_xml_is_an_error() {
        for bytes in [&b"<data>"[..], b"\xff", b""] {
            assert!(Camouflages::of_ship(&Source::from_vec(PATH, bytes.to_vec()), "a", &[]).is_err(), "{bytes:?}");
        }
    }
}
