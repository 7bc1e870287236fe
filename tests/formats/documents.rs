//! The tables of docs/formats state the offsets and types that the structs have.

use assetq::formats::dds;
use assetq::formats::ff13::{gtex, white};
use assetq::formats::rusty_hearts::game_folder as rusty_hearts;
use assetq::formats::rusty_hearts::wdata::{self, BoxType, Gate, MapField, StoredKind, shapes};
use assetq::formats::schema::Record;
use assetq::formats::wows::{bwdb, game_folder as wows, geometry, mo};

/// The members that a struct has, as name, offset and size.
type Members = &'static [(&'static str, usize, usize)];

/// The table below a heading of a document, or the next one after it: the cells of each row.
fn table<'d>(document: &'d str, heading: &str) -> Vec<Vec<&'d str>> {
    let mut lines = document.lines().skip_while(|line| !line.starts_with(heading));
    assert!(lines.next().is_some(), "no heading {heading:?}");
    let section = lines.take_while(|line| !line.starts_with('#')).skip_while(|line| !line.starts_with('|'));
    let rows = section.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// The size of a type as the documents write it: `u32`, `f32x3`, `u32[4]`, `4 bytes`, `text`.
fn size_of_type(name: &str) -> usize {
    let name = name.split(", **").next().unwrap();
    if let Some(bytes) = name.strip_suffix(" bytes") {
        return bytes.parse().unwrap();
    }
    match name {
        "text" => return 0x10,
        "path" => return 8,
        _ => {}
    }
    let (one, count) = match name.split_once(['x', '[']) {
        Some((one, count)) => (one, count.trim_end_matches(']').parse().unwrap()),
        None => (name, 1),
    };
    one[1..].parse::<usize>().unwrap_or_else(|_| panic!("no type: {name}")) / 8 * count
}

/// The offset and the size of each field that rows of offset, type and meaning state.
fn fields(rows: &[Vec<&str>], radix: u32) -> Vec<(usize, usize)> {
    let mut fields = Vec::new();
    for row in rows {
        let offsets: Vec<_> = row[0].split(", ").flat_map(|at| usize::from_str_radix(at, radix)).collect();
        let sizes: Vec<_> = row[1].split(", ").filter(|name| !name.starts_with('*')).map(size_of_type).collect();
        match *offsets {
            [mut at] => {
                for size in sizes {
                    fields.push((at, size));
                    at += size;
                }
            }
            _ => fields.extend(offsets.into_iter().map(|at| (at, sizes[0]))),
        }
    }
    fields
}

/// The fields that a column of cells such as `24 u32 method, 28 u32 codec` states.
fn fields_in(rows: &[Vec<&str>], column: usize) -> Vec<(usize, usize)> {
    let cells = rows.iter().flat_map(|row| row[column].split(", "));
    cells
        .filter_map(|cell| {
            let mut words = cell.split(' ');
            Some((words.next()?.parse().ok()?, size_of_type(words.next()?)))
        })
        .collect()
}

/// Asserts that the fields are members, and that only members without a meaning are left out.
#[track_caller]
fn assert_states(fields: &[(usize, usize)], members: &[(&str, usize, usize)], left_out: &[&str]) {
    for field in fields {
        assert!(members.iter().any(|(_, at, size)| (*at, *size) == *field), "{field:x?} is not in {members:x?}");
    }
    let missing = members.iter().filter(|(_, at, size)| !fields.contains(&(*at, *size))).map(|(name, ..)| *name);
    assert_eq!(missing.collect::<Vec<_>>(), left_out);
}

#[track_caller]
fn assert_document_states(document: &str, heading: &str, members: Members, left_out: &[&str]) {
    assert_states(&fields(&table(document, heading), 16), members, left_out);
}

#[test]
fn geometry() {
    use geometry::layout::{IndicesPrototype, Mapping, ModelPrototype, VerticesPrototype};
    let document = include_str!("../../docs/formats/geometry.md");
    assert_document_states(document, "## 3.", Mapping::MEMBERS, &[]);
    assert_document_states(document, "### 4.1", VerticesPrototype::MEMBERS, &[]);
    assert_document_states(document, "## 5.", IndicesPrototype::MEMBERS, &[]);
    assert_document_states(document, "### 6.1", ModelPrototype::MEMBERS, &[]);
}

#[test]
fn databases() {
    use bwdb::layout::{DatabaseEntry, HashMap, Instance, PathEntry, SpaceHeader};
    let document = include_str!("../../docs/formats/bwdb.md");
    assert_document_states(document, "### 3.1", HashMap::MEMBERS, &["_pad"]);
    assert_document_states(document, "## 4.", PathEntry::MEMBERS, &[]);
    assert_document_states(document, "### 5.1", DatabaseEntry::MEMBERS, &["_pad"]);

    let arrays = table(document, "## 9.");
    let [counts, pointers] = [0, 1].map(|column| usize::from_str_radix(arrays[0][column], 16).unwrap());
    let stated = [(counts, arrays.len() * 4), (pointers, arrays.len() * 8)];
    assert_states(&stated, SpaceHeader::MEMBERS, &[]);
    let instances = document.split_once("## 9.").unwrap().1.split_once("\n\n| offset").unwrap().1;
    let instances = format!("# instances\n| offset{instances}");
    assert_document_states(&instances, "# instances", Instance::MEMBERS, &["_unknown"]);
}

#[test]
fn folders_of_world_of_warships() {
    use wows::layout::{IndexHeader, Trailer, v1, v2};
    let document = include_str!("../../docs/formats/wows.md");
    assert_states(&fields(&table(document, "## 1."), 10), IndexHeader::MEMBERS, &[]);
    assert_states(&fields(&table(document, "## 5."), 10), Trailer::MEMBERS, &[]);
    let today = table(document, "## 2.");
    assert_states(&fields_in(&today, 0), v2::ResourceRow::MEMBERS, &[]);
    assert_states(&fields_in(&today, 1), v2::FileRow::MEMBERS, &[]);
    assert_states(&fields_in(&today, 2), v2::VolumeRow::MEMBERS, &[]);
    let small = table(document, "## 3.");
    assert_states(&fields_in(&small, 0), v1::ResourceRow::MEMBERS, &[]);
    assert_states(&fields_in(&small, 1), v1::FileRow::MEMBERS, &[]);
    assert_states(&fields_in(&small, 2), v1::VolumeRow::MEMBERS, &[]);
}

#[test]
fn textures() {
    let document = include_str!("../../docs/formats/textures.md");
    let header = dds::layout::DdsHeader::MEMBERS;
    let (format, at, _) = *header.iter().find(|(name, ..)| *name == "format").unwrap();
    let nested = dds::layout::PixelFormat::MEMBERS.iter().map(|(name, offset, size)| (*name, at + offset, *size));
    let header: Vec<_> = header.iter().copied().filter(|(name, ..)| *name != format).chain(nested).collect();
    let (last, stated): (Vec<_>, Vec<_>) =
        fields(&table(document, "## 1."), 10).into_iter().partition(|(at, _)| *at >= 128);
    assert_states(&stated, &header, &["pitch", "reserved", "caps", "reserved2", "size"]);
    assert_eq!(last, [(128, size_of::<dds::layout::Dx10>())]);

    let texture = fields(&table(document, "## 4."), 10);
    let left_out = ["version", "unknown_5", "unknown_8", "zero"];
    assert_states(&texture, gtex::layout::GtexHeader::MEMBERS, &left_out);
}

#[test]
fn lists_of_files_and_texts() {
    let document = include_str!("../../docs/formats/white.md");
    assert_document_states(document, "### 3.2", white::layout::ChunkInfo::MEMBERS, &[]);
    let [list, crypt] = ["## 3.", "## 2."].map(|heading| {
        let mut rows = table(document, heading);
        rows.retain(|row| usize::from_str_radix(row[0], 16).is_ok() && !row[1].contains(" x ") && row[1] != "N bytes");
        fields(&rows, 16)
    });
    assert_states(&list, white::layout::ListHeader::MEMBERS, &[]);
    assert_states(&crypt, white::layout::CryptHeader::MEMBERS, &[]);

    let document = include_str!("../../docs/formats/mo.md");
    assert_document_states(document, "## 1.", mo::layout::MoHeader::MEMBERS, &[]);
    let document = include_str!("../../docs/formats/rusty_hearts.md");
    let mut rows = table(document, "## 3.");
    rows.retain(|row| row[0] != "-");
    assert_states(&fields(&rows, 16), rusty_hearts::layout::FileLocation::MEMBERS, &[]);
}

/// A kind of fields as the document writes it.
fn kind_name(kind: &StoredKind) -> String {
    match kind {
        StoredKind::Bool => "bool".into(),
        StoredKind::Int => "i32".into(),
        StoredKind::Uint => "u32".into(),
        StoredKind::Float => "f32".into(),
        StoredKind::Text => "string".into(),
        StoredKind::Array(StoredKind::Float, 3) => "f32x3".into(),
        StoredKind::Array(item, count) => format!("{count} x {}", kind_name(item)),
        other => panic!("no name: {other:?}"),
    }
}

/// The versions that store a field, as the document writes them.
fn versions(gate: Gate) -> String {
    match gate {
        Gate::Always => String::new(),
        Gate::EventBox(from, i32::MAX) => format!(" (e ≥ {from})"),
        Gate::EventBox(i32::MIN, to) => format!(" (e ≤ {to})"),
        Gate::AniBg(from) | Gate::ItemBox(from) => format!(" (version ≥ {from})"),
        other => panic!("no name: {other:?}"),
    }
}

/// The fields after the place, as a cell of the document states them: `i32 id; count n; n x f32 distances`.
fn stated(fields: &[MapField]) -> String {
    let mut parts = Vec::new();
    let mut letters = ["n", "m"].into_iter();
    let mut fields = fields.iter().skip(shapes::PLACE.len());
    while let Some(field) = fields.next() {
        let (name, versions) = (field.name, versions(field.gate));
        parts.push(match (&field.kind, name.strip_suffix("_x")) {
            (StoredKind::Float, Some(point)) => {
                assert!(fields.next().is_some_and(|y| y.name == format!("{point}_y")));
                assert!(fields.next().is_some_and(|z| z.name == format!("{point}_z")));
                format!("f32x3 {point}{versions}")
            }
            (StoredKind::Count, _) => format!("count {}", letters.next().unwrap()),
            (StoredKind::List(item, count), _) => format!("{} x {} {name}", ["n", "m"][*count], kind_name(item)),
            (StoredKind::Array(StoredKind::Record(_), count), _) => format!("{count} x CameraInfo"),
            (kind, _) => format!("{} {name}{versions}", kind_name(kind)),
        });
    }
    parts.join("; ")
}

#[test]
fn boxes_of_maps() {
    let document = include_str!("../../docs/formats/wdata.md");
    let mut place = table(document, "### 4.2");
    place.retain(|row| row[0] != "-");
    assert_states(&fields(&place, 16), wdata::layout::Obb::MEMBERS, &[]);
    let rows = table(document, "### 4.3");
    assert_eq!(rows.len(), BoxType::COUNT);
    for (box_type, row) in BoxType::ALL.into_iter().zip(rows).filter(|(_, row)| !row[1].is_empty()) {
        let cell = row[2].replace(" (§4.4)", "").replace(" (ids of waypoints)", "");
        let found = (row[0].parse(), row[1], cell);
        assert_eq!(found, (Ok(box_type.number()), box_type.name(), stated(box_type.shape().fields)));
    }
    let sections = [&shapes::ANI_BGS, &shapes::ITEM_BOXES, &shapes::GIMMICKS];
    for (shape, row) in sections.into_iter().zip(table(document, "## 5.")) {
        assert_eq!(row[1], stated(shape.fields), "{}", shape.name);
    }
}
