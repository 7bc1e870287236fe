//! Camouflages of World of Warships: the file that describes them (docs/formats/textures.md §3.1), and a ship's own.

use crate::error::{ErrorKind, Result};
use crate::models::Coat;
use crate::source::Source;
use roxmltree::Node;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The path of the file in a game.
pub(super) const PATH: &str = "camouflages.xml";
/// XML elements and texts that the file may have.
const MAX_NODES: u32 = 1 << 20;
/// The part of a ship that counts for others where a camouflage is tiled.
const TILE: &str = "tile";
const BULGE: &str = "bulge";
/// The name of [`BULGE`] in real files, once misspelt.
const BUGLE: &str = "bugle";
/// The parts that a hull has in a camouflage.
const HULL: &[&str] = &["hull", TILE];
/// The parts of a ship, in small letters.
const PARTS: [&str; 12] =
    [TILE, "hull", "deckhouse", BULGE, BUGLE, "gun", "torpedo", "director", "plane", "float", "misc", "wire"];
/// The sections of a hull, in small letters.
const SECTIONS: [&str; 4] = ["bow", "midfront", "midback", "stern"];
/// The ends of the names of textures that are no colours.
const NO_COLOURS: [&str; 2] = ["_mgn", "_animmap"];
/// A colour that a scheme does not state.
const BLACK: [f32; 3] = [0.0; 3];

#[derive(Debug)]
pub(super) struct Camouflages {
    all: Vec<Camouflage>,
    notes: Vec<String>,
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

/// The file as text. What is not UTF-8 is read byte by byte: real files have other bytes in comments and annotations only.
fn decoded(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (text.into(), None);
    }
    let text = bytes.iter().map(|&byte| if byte.is_ascii() { char::from(byte) } else { char::REPLACEMENT_CHARACTER });
    let note = format!("{PATH} is not UTF-8, as in windows-1251: its letters that are not ASCII are not read");
    (text.collect::<String>().into(), Some(note))
}

/// The name of an element of `shipgroups.xml`, or of a `shipGroup`, if the group holds `ship`.
fn group_of<'a>(group: Node<'a, '_>, ship: &str) -> Option<&'a str> {
    text(group, "ships").filter(|ships| has_word(ships, ship))?;
    Some(text(group, "name").unwrap_or_else(|| group.tag_name().name()))
}

impl Camouflages {
    /// The camouflages called as in `wanted`, each with its title, as they are on `ship`. Camouflages of other ships are left
    /// out.
    ///
    /// # Errors
    /// `Damaged` when the file is no XML.
    pub(super) fn of_ship(source: &Source, ship: &str, wanted: &[(String, String)]) -> Result<Self> {
        let view = source.view("camouflages");
        let (content, note) = decoded(source.bytes());
        let options = roxmltree::ParsingOptions { nodes_limit: MAX_NODES, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(&content, options)
            .map_err(|error| view.error(ErrorKind::damaged(format!("it is not XML: {error}"))))?;
        let root = document.root_element();
        let groups = elements(root, "ShipGroups").chain(elements(root, "shipgroups.xml"));
        let groups: Vec<&str> = groups.filter_map(|group| group_of(group, ship)).collect();
        // One pass: a file describes thousands of camouflages.
        let mut found: BTreeMap<&str, (Rank, Node<'_, '_>)> = BTreeMap::new();
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
        let mut unknown = BTreeSet::new();
        let all = wanted.iter().filter_map(|(name, title)| {
            let (_, node) = found.get(name.as_str())?;
            let parts = elements(*node, "Textures").chain(elements(*node, "UV")).map(|part| part.tag_name().name());
            unknown.extend(parts.filter(|part| !is_known(part)));
            let scheme = words(*node, "colorSchemes").find_map(|name| schemes.get(name).copied());
            Some(Camouflage::new(title, *node, scheme.unwrap_or(*node)))
        });
        let all = all.collect();
        let mut notes: Vec<String> = note.into_iter().collect();
        if !unknown.is_empty() {
            let unknown = unknown.into_iter().collect::<Vec<_>>().join(", ");
            notes.push(format!("{PATH}: no materials are known for these parts of camouflages: {unknown}"));
        }
        Ok(Self { all, notes })
    }

    /// Parts of the file that were not read, in words.
    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Camouflage {
    /// `scheme` has the colours: the camouflages of the oldest files have their own.
    fn new(title: &str, node: Node<'_, '_>, scheme: Node<'_, '_>) -> Self {
        let textures = elements(node, "Textures").filter_map(|texture| {
            let kind = texture.tag_name().name().to_ascii_lowercase();
            // Gloss, metal and animations of the camouflage.
            let is_colour = NO_COLOURS.iter().all(|ending| !kind.ends_with(ending));
            let path = texture.text().map(str::trim).filter(|path| is_colour && !path.is_empty())?;
            Some((kind, path.to_owned()))
        });
        let transforms = elements(node, "UV").map(|transform| {
            let scale = text(transform, "scale").or_else(|| transform.text()).and_then(numbers);
            let offset = text(transform, "offset").and_then(numbers).unwrap_or([0.0; 2]);
            (transform.tag_name().name().to_ascii_lowercase(), (scale.unwrap_or([1.0; 2]), offset))
        });
        let colours = ["color0", "color1", "color2", "color3"].map(|name| text(scheme, name).and_then(numbers));
        let has_colours = colours.iter().any(Option::is_some);
        Self {
            title: title.to_owned(),
            is_tiled: text(node, "tiled").is_some_and(|text| text.eq_ignore_ascii_case("true")),
            textures: textures.collect(),
            colours: has_colours.then(|| colours.map(|colour| colour.unwrap_or(BLACK))),
            transforms: transforms.collect(),
        }
    }
}

/// How closely a description fits a ship: for it alone, for its group, or for all ships; and whether it is for all realms.
type Rank = (u8, bool);

/// The rank of a description for a ship of these groups; `None` if it is for other ships.
fn rank(node: Node<'_, '_>, ship: &str, groups: &[&str]) -> Option<Rank> {
    let closeness = if words(node, "targetShip").any(|target| target == ship) {
        2
    } else if words(node, "shipGroups").any(|group| groups.contains(&group)) {
        1
    } else if words(node, "targetShip").chain(words(node, "shipGroups")).next().is_none() {
        0
    } else {
        return None;
    };
    Some((closeness, child(node, "realm").is_none()))
}

/// The words in all children called `name`.
fn words<'a, 'i>(node: Node<'a, 'i>, name: &'a str) -> impl Iterator<Item = &'a str> {
    let children = node.children().filter(move |child| child.has_tag_name(name));
    children.filter_map(|child| child.text()).flat_map(str::split_whitespace)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split_whitespace().any(|found| found == word)
}

/// Whether a part of this name is read. Parts of a section of the hull have its name in front.
fn is_known(part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    let part = NO_COLOURS.iter().find_map(|ending| part.strip_suffix(ending)).unwrap_or(&part);
    let of_section = SECTIONS.iter().find_map(|section| part.strip_prefix(section)?.strip_prefix('_'));
    match of_section {
        Some(part) => ["hull", "deckhouse", BULGE, BUGLE].contains(&part),
        None => PARTS.contains(&part),
    }
}

/// The parts that a material may be of, by the name of its file, the closest first; none for materials that no camouflage
/// covers.
fn parts_of(material: &str, is_tiled: bool) -> Vec<String> {
    let file = crate::file_name(material);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let small = stem.to_ascii_lowercase();
    if small.contains("_wire") {
        return vec!["wire".to_owned()];
    }
    if ["glass", "_alpha", "razlom"].iter().any(|word| small.contains(word)) {
        return Vec::new();
    }
    // Nation, kind, number: JGA010_25mm_Type96.
    let kinds: &[&str] = match stem.as_bytes() {
        _ if small.contains("_deckhouse") => &["deckhouse"],
        _ if small.contains("_bulge") => &[BULGE, BUGLE],
        [nation, kind, more, ..] if [nation, kind].iter().all(|letter| letter.is_ascii_uppercase()) => {
            match (kind, more) {
                (_, more) if !more.is_ascii_uppercase() && !more.is_ascii_digit() => HULL,
                (b'G', b'T') => &["torpedo", "gun"],
                (b'G', _) => &["gun"],
                (b'D' | b'F', _) => &["director"],
                (b'A', _) if small.contains("_float") => &["float", "plane"],
                (b'A', _) => &["plane"],
                (b'R', _) => &["misc"],
                _ => HULL,
            }
        }
        _ => HULL,
    };
    let section = SECTIONS.iter().find(|section| small.contains(&format!("_{section}")));
    let of_section = section.into_iter().flat_map(|section| kinds.iter().map(move |kind| format!("{section}_{kind}")));
    let of_ship = kinds.iter().copied().chain(is_tiled.then_some(TILE));
    of_section.chain(of_ship.map(str::to_owned)).collect()
}

impl Camouflages {
    pub(crate) fn names(&self) -> Vec<String> {
        self.all.iter().map(|camouflage| camouflage.title.clone()).collect()
    }

    /// The coat of the material at the path `material`, if the camouflage has one there.
    pub(crate) fn coat(&self, number: usize, material: &str) -> Option<Coat> {
        let camouflage = self.all.get(number)?;
        let parts = parts_of(material, camouflage.is_tiled);
        let texture = parts.iter().find_map(|part| camouflage.textures.get(part))?.clone();
        let transform = parts.iter().find_map(|part| camouflage.transforms.get(part)).copied();
        let (scale, offset) = transform.unwrap_or(([1.0; 2], [0.0; 2]));
        Some(Coat { texture, colours: camouflage.colours, is_tiled: camouflage.is_tiled, scale, offset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEME: &str =
        "<colorScheme><name>grey</name><color0>0 0 0 1</color0><color1>.5 0.25 1 1</color1></colorScheme>";
    /// The groups and a scale as real files have them, and as a newer program describes them.
    const DIALECTS: [(&str, &str); 2] = [
        (
            "<ShipGroups><shipGroup><name>USA_1</name><ships> PASB001_A PASB002_B</ships></shipGroup></ShipGroups>",
            "2 3",
        ),
        ("<shipgroups.xml><USA_1><ships>PASB001_A PASB002_B</ships></USA_1></shipgroups.xml>", "<scale>2 3</scale>"),
    ];

    fn xml((groups, scale): (&str, &str)) -> String {
        format!(
            "<data>{groups}<ColorSchemes>{SCHEME}</ColorSchemes><Camouflages>
            <camouflage><name>camo_tile</name><tiled>True</tiled><colorSchemes>lost</colorSchemes>
                <colorSchemes>grey other</colorSchemes>
                <Textures><Tile>content/all.dds</Tile><Tile_mgn>content/all_mgn.dds</Tile_mgn></Textures></camouflage>
            <camouflage><name>camo_tile</name><tiled>true</tiled><shipGroups>GER_1 USA_1</shipGroups><realm>CN</realm>
                <Textures><Tile>content/realm.dds</Tile></Textures></camouflage>
            <camouflage><name>camo_tile</name><tiled>true</tiled><shipGroups>GER_1 USA_1</shipGroups>
                <Textures><Tile>content/usa.dds</Tile></Textures>
                <UV><Gun>{scale}</Gun><Bow_DeckHouse>4 4</Bow_DeckHouse></UV></camouflage>
            <camouflage><name>mat_own</name><targetShip>PASB003_C PASB001_A</targetShip><color0>1 0 0 1</color0>
                <Textures><Hull>content/a.dds</Hull><Bow_Hull>content/bow.dds</Bow_Hull><Float>content/float.dds</Float>
                <MidBack_Bugle>content/bulge.dds</MidBack_Bugle><Wire>content/wire.dds</Wire></Textures></camouflage>
            </Camouflages></data>"
        )
    }

    fn read(bytes: Vec<u8>, ship: &str) -> Camouflages {
        let wanted = ["camo_tile", "mat_own", "none"].map(|name| (name.to_owned(), name.to_uppercase()));
        Camouflages::of_ship(&Source::from_vec(PATH, bytes), ship, &wanted).unwrap()
    }

    #[test]
    fn the_description_of_the_ship_or_its_group_counts() {
        for dialect in DIALECTS {
            for (ship, titles, texture) in [
                ("PASB001_A", &["CAMO_TILE", "MAT_OWN"][..], "content/usa.dds"),
                ("PASB002_B", &["CAMO_TILE"], "content/usa.dds"),
                ("PJSB001_C", &["CAMO_TILE"], "content/all.dds"),
            ] {
                let all = read(xml(dialect).into_bytes(), ship);
                assert_eq!(all.names(), titles, "{ship}");
                assert_eq!(all.coat(0, "content/ASB001/ASB001_Hull.mfm").unwrap().texture, texture, "{ship}");
            }
        }
    }

    #[test]
    fn a_coat_has_the_colours_and_the_scale_of_its_part() {
        for dialect in DIALECTS {
            let coat = read(xml(dialect).into_bytes(), "PJSB001_C").coat(0, "AGM034.mfm").unwrap();
            assert_eq!(coat.colours.unwrap()[1], [0.5, 0.25, 1.0]);
            assert_eq!((coat.is_tiled, coat.scale), (true, [1.0, 1.0]));
            let usa = read(xml(dialect).into_bytes(), "PASB001_A");
            let scale = |material| usa.coat(0, material).unwrap().scale;
            assert_eq!([scale("AGM034.mfm"), scale("AGT034.mfm")], [[2.0, 3.0]; 2]);
            assert_eq!([scale("ASB001_Bow_DeckHouse.mfm"), scale("ASB001_DeckHouse.mfm")], [[4.0; 2], [1.0; 2]]);
            assert_eq!(usa.coat(0, "ASB001_glass.mfm"), None);
            assert_eq!(usa.coat(0, "ASB001_wire.mfm"), None, "a tiled camouflage covers no wires");
            let own = |material: &str| usa.coat(1, material).map(|coat| coat.texture);
            assert_eq!(usa.coat(1, "ASB001_Hull.mfm").unwrap().colours.unwrap()[0], [1.0, 0.0, 0.0]);
            for (material, texture) in [
                ("ASB001_Hull", Some("a")),
                ("ASB001_Stern", Some("a")),
                ("ASB001_Bow", Some("bow")),
                ("ASB001_MidBack_Bulge", Some("bulge")),
                ("AAF017_N_float", Some("float")),
                ("ASB001_wire", Some("wire")),
                ("AGM034", None),
            ] {
                let expected = texture.map(|name| format!("content/{name}.dds"));
                assert_eq!(own(&format!("content/{material}.mfm")), expected, "{material}");
            }
        }
    }

    #[test]
    fn a_file_in_windows_1251_and_a_part_that_no_program_knows_are_notes() {
        let mut bytes = b"<!-- \xCF\xF0\xE8 -->".to_vec();
        bytes.extend(xml(DIALECTS[0]).replace("Float", "Funnel").bytes());
        let all = read(bytes, "PASB001_A");
        assert_eq!(all.names(), ["CAMO_TILE", "MAT_OWN"]);
        let [encoding, parts] = all.notes() else { panic!("{:?}", all.notes()) };
        assert!(encoding.contains("windows-1251"), "{encoding}");
        assert!(parts.ends_with(": Funnel"), "{parts}");
    }

    #[test]
    fn what_is_no_xml_is_an_error() {
        for bytes in [&b"<data>"[..], b"\xff", b""] {
            assert!(Camouflages::of_ship(&Source::from_vec(PATH, bytes.to_vec()), "a", &[]).is_err(), "{bytes:?}");
        }
    }
}
