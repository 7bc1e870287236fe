//! FINAL FANTASY XIII-2: items, enemies that drop them, shops that sell them, texts, icons, and a data folder.

use super::picture::{Area, Colour, Disc, Line, Polygon, picture};
use crate::ff13::gtex::{self, GtexBuilder};
use crate::ff13::wdb::{self, Cell, Game, Sheet};
use crate::ff13::white::{self, ImageFiles};
use crate::make::{Put, Stopped, each};
use assetq_ff13::white::GameKind;

/// An item: record, icon, category, price, rank, and its name in English and French.
type Item = (&'static str, Icon, &'static str, i64, i64, [&'static str; 2]);

/// The numbers of the textures of `icons.trb`.
#[derive(Debug, Clone, Copy)]
enum Icon {
    Sword,
    Potion,
    Crest,
}

const ITEMS: [Item; 10] = [
    ("acc_crest_dawn", Icon::Crest, "accessory", 2500, 4, ["Crest of Dawn", "Blason de l'aube"]),
    ("acc_crest_tide", Icon::Crest, "accessory", 1200, 2, ["Crest of Tides", "Blason des marées"]),
    ("it_elixir", Icon::Potion, "consumable", 8000, 5, ["Elixir", "Élixir"]),
    ("it_herb_tea", Icon::Potion, "consumable", 30, 1, ["Herb Tea", "Tisane"]),
    ("it_potion", Icon::Potion, "consumable", 50, 1, ["Potion", "Potion"]),
    ("key_lens", Icon::Crest, "key item", 0, 5, ["Warden's Lens", "Lentille du gardien"]),
    ("mat_ember", Icon::Crest, "material", 180, 2, ["Ember Shard", "Éclat de braise"]),
    ("we_iron_sword", Icon::Sword, "weapon", 600, 1, ["Iron Sword", "Épée de fer"]),
    ("we_river_blade", Icon::Sword, "weapon", 2400, 3, ["River Blade", "Lame des rivières"]),
    ("we_starcutter", Icon::Sword, "weapon", 9600, 5, ["Starcutter", "Fend-étoiles"]),
];

/// An enemy: record, kin, health, strength and magic, whether it is a boss, two drops with their chances in a hundred, and its
/// name in English and French.
type Enemy = (&'static str, &'static str, i64, [i64; 2], bool, [(&'static str, i64); 2], [&'static str; 2]);

const ENEMIES: [Enemy; 7] = [
    (
        "e_bandit",
        "human",
        1800,
        [95, 20],
        false,
        [("it_potion", 40), ("we_iron_sword", 5)],
        ["River Bandit", "Bandit du fleuve"],
    ),
    (
        "e_golem",
        "machine",
        52_000,
        [310, 60],
        true,
        [("mat_ember", 100), ("we_starcutter", 10)],
        ["Millstone Golem", "Golem de meule"],
    ),
    (
        "e_imp",
        "spirit",
        900,
        [40, 120],
        false,
        [("it_herb_tea", 35), ("mat_ember", 15)],
        ["Mill Imp", "Lutin du moulin"],
    ),
    (
        "e_slime",
        "beast",
        450,
        [30, 45],
        false,
        [("it_herb_tea", 50), ("it_potion", 20)],
        ["Reed Slime", "Gelée des roseaux"],
    ),
    (
        "e_warden",
        "spirit",
        88_000,
        [240, 410],
        true,
        [("key_lens", 100), ("acc_crest_dawn", 25)],
        ["Bell Warden", "Gardien de la cloche"],
    ),
    (
        "e_wolf",
        "beast",
        1200,
        [80, 10],
        false,
        [("it_potion", 25), ("acc_crest_tide", 3)],
        ["Meadow Wolf", "Loup des prés"],
    ),
    (
        "e_wyrm",
        "beast",
        140_000,
        [520, 380],
        true,
        [("we_river_blade", 100), ("it_elixir", 30)],
        ["Crystal Wyrm", "Ver de cristal"],
    ),
];

/// A shop: record, its name, and what it sells with the number in stock.
type Shop = (&'static str, [&'static str; 2], &'static [(&'static str, i64)]);

const SHOPS: [Shop; 3] = [
    ("sh_apothecary", ["Apothecary", "Apothicaire"], &[("it_herb_tea", 99), ("it_potion", 99), ("it_elixir", 2)]),
    ("sh_jeweller", ["Jeweller", "Joaillier"], &[("acc_crest_tide", 5), ("acc_crest_dawn", 1), ("mat_ember", 20)]),
    ("sh_smithy", ["Smithy", "Forge"], &[("we_iron_sword", 10), ("we_river_blade", 2)]),
];

/// Who is met on a field: place, enemy, number.
const ENCOUNTERS: [(&str, &str, i64); 5] = [
    ("belfry", "e_warden", 1),
    ("meadow_east", "e_wolf", 4),
    ("meadow_west", "e_wolf", 2),
    ("mill_cellar", "e_imp", 6),
    ("reed_bank", "e_slime", 6),
];

fn named(record: &str) -> Cell {
    Cell::from(&*format!("t_{record}"))
}

fn items() -> Sheet {
    let sheet = Sheet::new(Game::Later, "Item").fields([
        "sNameId",
        "u16Price",
        "u16SellPrice",
        "u3Icon",
        "u4Rank",
        "u1IsKeyItem",
        "s4Category",
    ]);
    ITEMS.into_iter().fold(sheet, |sheet, (record, icon, category, price, rank, _)| {
        let is_key = i64::from(category == "key item");
        let numbers = [price, price / 2, icon as i64, rank, is_key].map(Cell::Int);
        sheet.record(record, [named(record)].into_iter().chain(numbers).chain([Cell::from(category)]))
    })
}

/// The sheet of the enemies.
fn enemy_sheet() -> Sheet {
    let fields = [
        "sNameId",
        "sDropItem",
        "sRareDrop",
        "uHp",
        "u12Strength",
        "u12Magic",
        "u1IsBoss",
        "u7DropRate",
        "u7RareRate",
        "s4Kin",
    ];
    let sheet = Sheet::new(Game::Later, "Enemy").fields(fields);
    ENEMIES.into_iter().fold(sheet, |sheet, (record, kin, health, [strength, magic], is_boss, [drop, rare], _)| {
        let numbers = [health, strength, magic, is_boss.into(), drop.1, rare.1].map(Cell::Int);
        let texts = [named(record), drop.0.into(), rare.0.into()];
        sheet.record(record, texts.into_iter().chain(numbers).chain([Cell::from(kin)]))
    })
}

pub fn enemies() -> Vec<u8> {
    enemy_sheet().build()
}

/// The offers of the shops: a record for each.
fn shops() -> Sheet {
    let sheet = Sheet::new(Game::Later, "Shop").fields(["sShop", "sItem", "u7Stock"]);
    let offers = SHOPS.into_iter().flat_map(|(shop, _, offers)| (1..).zip(offers).map(move |offer| (shop, offer)));
    offers.fold(sheet, |sheet, (shop, (n, (item, stock)))| {
        sheet.record(format!("{shop}_{n}"), [shop.into(), (*item).into(), Cell::Int(*stock)])
    })
}

/// The names of all records.
fn texts() -> Sheet {
    let names = ITEMS.into_iter().map(|(record, .., names)| (record, names));
    let names = names.chain(ENEMIES.into_iter().map(|(record, .., names)| (record, names)));
    let names = names.chain(SHOPS.into_iter().map(|(record, names, _)| (record, names)));
    let mut names: Vec<_> = names.map(|(record, names)| (format!("t_{record}"), names)).collect();
    names.sort_unstable();
    let sheet = Sheet::new(Game::Later, "Text").fields(["sEnglish", "sFrench"]);
    names.into_iter().fold(sheet, |sheet, (record, names)| sheet.record(record, names.map(Cell::from)))
}

fn encounters() -> Sheet {
    let sheet = Sheet::new(Game::Later, "Encounter").fields(["sEnemy", "u4Count"]);
    ENCOUNTERS
        .into_iter()
        .fold(sheet, |sheet, (place, enemy, count)| sheet.record(place, [enemy.into(), Cell::Int(count)]))
}

/// The four sheets in one file, and a note.
pub fn pack() -> Vec<u8> {
    let note =
        b"Sheets join by record: shop.sItem = item.record, enemy.sDropItem = item.record, sNameId = text.record\n";
    wdb::pack(&[
        ("enemy", "wdb", enemies()),
        ("item", "wdb", items().build()),
        ("shop", "wdb", shops().build()),
        ("text", "wdb", texts().build()),
        ("readme", "txt", note.to_vec()),
    ])
}

const GOLD: Colour = [214, 170, 74];
const STEEL: Colour = [196, 206, 216];
const NIGHT: Colour = [38, 46, 66];

/// The part of a bottle above the potion.
const EMPTY: [[f32; 2]; 9] = [
    [0.301, 0.55],
    [0.321, 0.5],
    [0.36, 0.45],
    [0.423, 0.41],
    [0.5, 0.395],
    [0.577, 0.41],
    [0.64, 0.45],
    [0.679, 0.5],
    [0.699, 0.55],
];

/// The areas of an icon.
fn areas(icon: Icon) -> Vec<(Area, Colour)> {
    let frame = [(Disc([0.5, 0.5], 0.48), GOLD), (Disc([0.5, 0.5], 0.455), [58, 70, 98])];
    let areas = match icon {
        Icon::Sword => vec![
            (Line([0.36, 0.64], [0.78, 0.22], [0.13, 0.03]), STEEL),
            (Line([0.375, 0.65], [0.785, 0.225], [0.05, 0.015]), [136, 150, 168]),
            (Line([0.24, 0.53], [0.47, 0.76], [0.07, 0.07]), GOLD),
            (Line([0.31, 0.69], [0.22, 0.78], [0.07, 0.07]), [112, 72, 44]),
            (Disc([0.2, 0.8], 0.05), GOLD),
        ],
        Icon::Potion => vec![
            (Line([0.5, 0.26], [0.5, 0.45], [0.15, 0.15]), STEEL),
            (Disc([0.5, 0.6], 0.24), STEEL),
            (Disc([0.5, 0.6], 0.205), [62, 160, 96]),
            (Polygon(EMPTY.to_vec()), [158, 206, 190]),
            (Line([0.5, 0.3], [0.5, 0.46], [0.1, 0.1]), [158, 206, 190]),
            (Line([0.5, 0.17], [0.5, 0.24], [0.14, 0.12]), [150, 104, 62]),
            (Disc([0.42, 0.62], 0.045), [190, 236, 206]),
        ],
        Icon::Crest => {
            let shield = |grown: f32| {
                let half = [[0.0, -0.3], [0.26, -0.3], [0.26, 0.02], [0.22, 0.16], [0.13, 0.27], [0.0, 0.35]];
                let left = half.iter().rev().map(|[x, y]| [-x, *y]);
                Polygon(half.into_iter().chain(left).map(|[x, y]| [0.5 + x * grown, 0.48 + y * grown]).collect())
            };
            vec![
                (shield(1.12), GOLD),
                (shield(1.0), [150, 44, 52]),
                (Polygon(vec![[0.26, 0.62], [0.5, 0.38], [0.74, 0.62], [0.7, 0.72], [0.5, 0.52], [0.3, 0.72]]), STEEL),
                (Disc([0.38, 0.3], 0.05), GOLD),
                (Disc([0.62, 0.3], 0.05), GOLD),
                (Disc([0.5, 0.68], 0.05), GOLD),
            ]
        }
    };
    frame.into_iter().chain(areas).collect()
}

/// The `.trb` and `.imgb` of the icons, with all levels.
pub fn icons() -> (Vec<u8>, Vec<u8>) {
    const SIDE: u16 = 128;
    let textures = [Icon::Sword, Icon::Potion, Icon::Crest].map(|icon| {
        let picture = picture(SIDE.into(), NIGHT, &areas(icon));
        let mut rest = &picture[128..];
        let sides = std::iter::successors(Some(SIDE), |side| Some(side / 2).filter(|side| *side > 0));
        let levels = sides.map(|side| {
            let (level, others) = rest.split_at(usize::from(side.div_ceil(4)).pow(2) * 8);
            rest = others;
            level.to_vec()
        });
        GtexBuilder { format: 0x18, size: [SIDE; 2], cube: false, levels: levels.collect() }
    });
    gtex::build(&textures)
}

/// Writes the data folder.
///
/// # Errors
/// If a file is refused.
pub fn folder(put: &mut Put<'_>) -> Result<(), Stopped> {
    let (trb, imgb) = icons();
    let resident = [
        ("db/resident/enemy.wdb", enemies()),
        ("db/resident/item.wdb", items().build()),
        ("db/resident/shop.wdb", shops().build()),
        ("db/resident/text_us.wdb", texts().build()),
        ("db/resident/wdbpack.bin", pack()),
        ("gui/resident/icons.win32.imgb", imgb),
        ("gui/resident/icons.win32.trb", trb),
    ];
    let zone = [("db/zone/z001/encounter.wdb", encounters().build())];
    let named =
        |files: Vec<(&str, Vec<u8>)>| files.into_iter().map(|(path, bytes)| (Some(path.to_owned()), bytes)).collect();
    let images: [ImageFiles; 2] = [
        ("sys", "filelistu.win32.bin", "white_imgu.win32.bin", named(resident.into())),
        ("zone", "filelist_z001u.win32.bin", "white_z001u_img.win32.bin", named(zone.into())),
    ];
    each(put, |write| drop(white::write(GameKind::Second, images, 0x7000, 1, write)))
}
