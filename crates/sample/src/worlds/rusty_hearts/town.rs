//! Lindenhall: its walls, streets, houses and people. x leads east, z north, in steps of about a metre.

use super::{Ground, Rows, area, chest, enemies, gimmick, map, portal, round, scenery, start, text, texts, trigger};
use crate::worlds::picture::Point;
use assetq_core::table::Value;

/// The name of the town's map, and its number.
pub const MAP: &str = "town";
pub const ID: i64 = 1;

/// The runs of the wall between the gates.
const WALLS: [(&str, &[Point]); 3] = [
    (
        "Western wall",
        &[
            [665.0, 110.0],
            [430.0, 120.0],
            [285.0, 225.0],
            [235.0, 480.0],
            [275.0, 730.0],
            [440.0, 870.0],
            [660.0, 890.0],
        ],
    ),
    ("Northern wall", &[[730.0, 890.0], [960.0, 870.0], [1100.0, 750.0], [1140.0, 545.0]]),
    ("Eastern wall", &[[1140.0, 455.0], [1105.0, 250.0], [970.0, 125.0], [735.0, 110.0]]),
];

/// Streets: name, both ends, width.
const STREETS: [(&str, Point, Point, f32); 13] = [
    ("King's Road", [700.0, 0.0], [700.0, 105.0], 40.0),
    ("Gate Street", [700.0, 105.0], [700.0, 415.0], 40.0),
    ("Bell Street", [695.0, 585.0], [695.0, 890.0], 32.0),
    ("North Road", [695.0, 890.0], [695.0, 1000.0], 32.0),
    ("Harbour Street", [785.0, 500.0], [1140.0, 500.0], 36.0),
    ("Quay Road", [1140.0, 500.0], [1245.0, 500.0], 36.0),
    ("Lind Bridge", [1245.0, 500.0], [1365.0, 500.0], 30.0),
    ("Mill Road", [1365.0, 500.0], [1500.0, 500.0], 30.0),
    ("Mint Lane", [615.0, 500.0], [280.0, 490.0], 28.0),
    ("Smith Row", [765.0, 435.0], [985.0, 215.0], 26.0),
    ("Chapel Walk", [765.0, 565.0], [960.0, 760.0], 26.0),
    ("Weaver Lane", [635.0, 435.0], [420.0, 220.0], 26.0),
    ("Baker Walk", [635.0, 565.0], [450.0, 750.0], 26.0),
];

/// Houses along a street: whether they are on its left side, the distance from its start, the front and the depth of a
/// house, and names. A house without a name gets a number.
type HouseRow = (&'static str, bool, f32, [f32; 2], &'static [&'static str]);

const HOUSES: [HouseRow; 16] = [
    ("Gate Street", true, 18.0, [52.0, 44.0], &["Guardhouse", "The Gilded Anchor Inn", "", ""]),
    ("Gate Street", false, 18.0, [52.0, 44.0], &["Stables", "Bakery", "", ""]),
    ("Bell Street", true, 40.0, [46.0, 42.0], &["School", "", "", "Watchmaker"]),
    ("Bell Street", false, 40.0, [46.0, 42.0], &["Apothecary", "", "", "Potter"]),
    ("Harbour Street", true, 40.0, [48.0, 40.0], &["Fish Market", "", "Sailmaker", ""]),
    ("Harbour Street", false, 40.0, [48.0, 40.0], &["Tavern at the Crane", "", "", "Customs House"]),
    ("Mint Lane", true, 30.0, [50.0, 40.0], &["Mint", "", "Jeweller", ""]),
    ("Mint Lane", false, 30.0, [50.0, 40.0], &["Bank", "", "", "Library"]),
    ("Smith Row", true, 60.0, [40.0, 34.0], &["Smithy", "", "Armourer"]),
    ("Smith Row", false, 60.0, [40.0, 34.0], &["", "Fletcher", ""]),
    ("Weaver Lane", true, 60.0, [40.0, 34.0], &["", "Dyer", ""]),
    ("Weaver Lane", false, 60.0, [40.0, 34.0], &["Weaver", "", "Tailor"]),
    ("Chapel Walk", true, 70.0, [36.0, 32.0], &["Almshouse", ""]),
    ("Chapel Walk", false, 60.0, [36.0, 32.0], &["Bell Foundry", "", "Sexton"]),
    ("Baker Walk", true, 85.0, [38.0, 34.0], &["Old Bakehouse", "", "Cooper"]),
    ("Mill Road", true, 30.0, [30.0, 26.0], &["Ferry House"]),
];

/// Other buildings: name, middle, size, height.
const BUILDINGS: [(&str, Point, Point, f32); 8] = [
    ("Chapel of Saint Linde", [1000.0, 655.0], [120.0, 34.0], 34.0),
    ("Chapel Transept", [1015.0, 655.0], [34.0, 84.0], 34.0),
    ("Guild Hall", [580.0, 735.0], [80.0, 60.0], 28.0),
    ("Town Hall", [400.0, 375.0], [70.0, 60.0], 30.0),
    ("Warehouse 1", [1205.0, 590.0], [44.0, 70.0], 20.0),
    ("Warehouse 2", [1205.0, 680.0], [44.0, 70.0], 20.0),
    ("Net Loft", [1205.0, 415.0], [40.0, 60.0], 16.0),
    ("Old Mill", [1440.0, 585.0], [44.0, 44.0], 24.0),
];

/// The river, from north to south.
const RIVER: [(&str, Point, Point); 4] = [
    ("River Lind, upper reach", [1345.0, 1000.0], [1300.0, 770.0]),
    ("River Lind, harbour", [1300.0, 790.0], [1300.0, 500.0]),
    ("River Lind, below the bridge", [1300.0, 520.0], [1320.0, 250.0]),
    ("River Lind, ford", [1320.0, 265.0], [1270.0, 0.0]),
];

/// Greens: name, middle, size, the number of their echo.
const GREENS: [(&str, Point, Point, i64); 4] = [
    ("Rose Garden", [395.0, 590.0], [120.0, 90.0], 2),
    ("Churchyard", [1010.0, 735.0], [100.0, 60.0], 3),
    ("Horse Paddock", [830.0, 185.0], [100.0, 70.0], 2),
    ("Orchard", [420.0, 800.0], [90.0, 60.0], 2),
];

/// People: name, trade, place.
const PEOPLE: [(&str, &str, Point); 14] = [
    ("Berrin", "gate guard", [630.0, 88.0]),
    ("Hedda", "gate guard", [775.0, 88.0]),
    ("Osric", "night watch", [640.0, 540.0]),
    ("Mirabel", "flower seller", [740.0, 440.0]),
    ("Aldous", "mayor", [700.0, 568.0]),
    ("Tamsin", "innkeeper", [690.0, 178.0]),
    ("Garrick", "smith", [900.0, 415.0]),
    ("Ysolde", "apothecary", [785.0, 607.0]),
    ("Father Corwin", "priest", [1065.0, 612.0]),
    ("Brannoch", "banker", [345.0, 514.0]),
    ("Elspeth", "librarian", [320.0, 548.0]),
    ("Captain Rourke", "harbour master", [1235.0, 530.0]),
    ("Nell", "fishmonger", [835.0, 500.0]),
    ("Old Pell", "miller", [1410.0, 465.0]),
];

/// Rounds: who walks, along which points, and whether back to the first.
const ROUNDS: [(&str, &[Point], bool); 4] = [
    (
        "Berrin",
        &[
            [690.0, 150.0],
            [690.0, 280.0],
            [690.0, 410.0],
            [640.0, 500.0],
            [690.0, 590.0],
            [690.0, 730.0],
            [690.0, 870.0],
        ],
        false,
    ),
    ("Hedda", &[[710.0, 150.0], [710.0, 400.0], [780.0, 430.0], [880.0, 325.0], [975.0, 230.0]], false),
    ("Osric", &[[700.0, 435.0], [765.0, 500.0], [700.0, 565.0], [635.0, 500.0]], true),
    ("Captain Rourke", &[[1225.0, 500.0], [1235.0, 620.0], [1235.0, 720.0]], false),
];

/// Portals: name, ground, number, the map and its portal, the map's name.
const PORTALS: [(&str, Point, Point, i64, &str); 3] = [
    ("To the Sunken Mill", [1440.0, 540.0], [36.0, 24.0], 101, "sunken_mill"),
    ("To the Crystal Mine", [695.0, 975.0], [60.0, 24.0], 102, "crystal_mine"),
    ("To the Bell Crypt", [1055.0, 735.0], [24.0, 24.0], 103, "bell_crypt"),
];

const STARTS: [(&str, Point); 4] = [
    ("Arrival at the gate", [700.0, 60.0]),
    ("Back from the Sunken Mill", [1400.0, 500.0]),
    ("Back from the Crystal Mine", [695.0, 935.0]),
    ("Back from the Bell Crypt", [1020.0, 735.0]),
];

/// Enemies outside of the walls: place, middle, size, name, number.
const WILD: [(&str, Point, Point, &str, i64); 4] = [
    ("West meadow", [105.0, 300.0], [150.0, 190.0], "Meadow Wolf", 4),
    ("Reed bank", [105.0, 690.0], [150.0, 170.0], "Reed Slime", 6),
    ("South thicket", [1080.0, 60.0], [190.0, 80.0], "Thicket Boar", 3),
    ("Beyond the river", [1440.0, 250.0], [90.0, 200.0], "River Bandit", 5),
];

/// Oaks, outside and in the gardens.
const OAKS: [Point; 22] = [
    [60.0, 900.0],
    [140.0, 940.0],
    [220.0, 880.0],
    [340.0, 930.0],
    [90.0, 500.0],
    [160.0, 560.0],
    [60.0, 120.0],
    [150.0, 70.0],
    [260.0, 110.0],
    [340.0, 50.0],
    [560.0, 50.0],
    [860.0, 40.0],
    [860.0, 930.0],
    [1040.0, 920.0],
    [1160.0, 880.0],
    [1210.0, 950.0],
    [395.0, 785.0],
    [425.0, 815.0],
    [450.0, 785.0],
    [1190.0, 130.0],
    [1460.0, 800.0],
    [1420.0, 900.0],
];

const CHESTS: [(&str, Point); 3] = [
    ("Chest of the smithy", [905.0, 395.0]),
    ("Chest on the quay", [1240.0, 650.0]),
    ("Chest of the guild", [560.0, 780.0]),
];

/// Signs of the small map: name, place, the number of the icon.
const ICONS: [(&str, Point, i64); 4] = [
    ("Inn", [640.0, 215.0], 1),
    ("Smith", [845.0, 400.0], 2),
    ("Bank", [555.0, 530.0], 3),
    ("Harbour", [1262.0, 560.0], 4),
];

/// All records of the map.
pub fn rows() -> Rows {
    let mut rows = Rows::new();
    let id = |number: i64| [("id", Value::Int(number))];
    for ((name, from, to, width), number) in STREETS.into_iter().zip(1..) {
        rows.push(area(name, Ground::strip(from, to, width), MAP, number));
    }
    let plaza = Ground::new([700.0, 500.0], [176.0; 2]);
    rows.push(area("Bell Plaza", plaza, MAP, 20));
    rows.push(area("Bell Plaza", plaza.turned(), MAP, 20));
    for (name, from, to) in RIVER {
        let ground = Ground::strip(from, to, 90.0);
        let [dx, dz] = ground.along;
        let velocity = Value::List([dx * 12.0, 0.0, dz * 12.0].map(Value::F32).to_vec());
        rows.push(("skid_boxes", ground.row(name, 3.0, [("velocity", velocity), ("duration", 1.0_f32.into())])));
    }
    for (name, middle, size, echo) in GREENS {
        let fields = [("reverb_type", Value::Int(echo))];
        rows.push(("environment_reverb_boxes", Ground::new(middle, size).row(name, 2.0, fields)));
    }
    for (name, corners) in WALLS {
        for (n, ends) in (1..).zip(corners.windows(2)) {
            rows.push(("obstacle_boxes", Ground::strip(ends[0], ends[1], 14.0).row(&format!("{name} {n}"), 32.0, [])));
        }
        for (n, corner) in (1..).zip(corners) {
            let tower = Ground::new(*corner, [30.0; 2]);
            rows.push(("obstacle_boxes", tower.row(&format!("{name}, tower {n}"), 48.0, [])));
        }
    }
    houses(&mut rows);
    for (name, middle, size, height) in BUILDINGS {
        rows.push(("obstacle_boxes", Ground::new(middle, size).row(name, height, [])));
    }
    for ((name, trade, middle), number) in PEOPLE.into_iter().zip(1..) {
        let fields = [("npc_name", text(name)), ("id", Value::Int(number)), ("instance_id", Value::Int(1000 + number))];
        rows.push(("npc_boxes", Ground::new(middle, [14.0; 2]).row(&format!("{name}, {trade}"), 8.0, fields)));
    }
    for ((name, middle, size, map_id, to), number) in PORTALS.into_iter().zip(1..) {
        rows.push(portal(name, Ground::new(middle, size), number, [map_id, 1], to));
    }
    for ((name, middle), number) in STARTS.into_iter().zip(1..) {
        rows.push(start(name, middle, number));
    }
    let select = [("id", Value::Int(1)), ("active", true.into())];
    rows.push((
        "select_map_portal_boxes",
        Ground::new([700.0, 15.0], [60.0, 22.0]).row("Coach to other towns", 20.0, select),
    ));
    rows.extend(
        WILD.map(|(place, middle, size, enemy, count)| enemies(place, Ground::new(middle, size), enemy, count)),
    );
    rows.extend(CHESTS.map(|(name, middle)| chest(name, middle)));
    rows.extend(OAKS.map(|middle| scenery("Oak", Ground::new(middle, [24.0; 2]).turned(), 18.0)));
    rows.push(scenery("Fountain of the Three Fish", Ground::new([700.0, 500.0], [44.0; 2]), 10.0));
    rows.push(scenery("Ship Marigold", Ground::strip([1285.0, 620.0], [1285.0, 720.0], 28.0), 22.0));
    rows.push(scenery("Ship Patience", Ground::strip([1318.0, 560.0], [1318.0, 640.0], 24.0), 20.0));
    rows.push(scenery("Camp Fire", Ground::new([1440.0, 250.0], [14.0; 2]), 4.0));
    rows.push(gimmick("South Gate", Ground::new([700.0, 110.0], [42.0, 12.0]), 26.0, "Open", 401));
    rows.push(gimmick("North Gate", Ground::new([695.0, 890.0], [42.0, 12.0]), 26.0, "Open", 401));
    rows.push(gimmick("Harbour Gate", Ground::new([1140.0, 500.0], [12.0, 62.0]), 26.0, "Open", 401));
    rows.push(gimmick("Harbour Crane", Ground::new([1245.0, 585.0], [16.0, 16.0]), 30.0, "Turn", 402));
    rows.push(("etc_boxes", Ground::new([745.0, 535.0], [10.0, 6.0]).row("Notice board", 8.0, id(1))));
    rows.push((
        "camera_block_boxes",
        Ground::new([1000.0, 655.0], [110.0, 24.0]).row("No camera in the chapel", 40.0, []),
    ));
    rows.push((
        "camera_target_boxes",
        Ground::new([700.0, 500.0], [6.0; 2]).row("Look at the fountain", 6.0, [("name_text_id", Value::Int(7001))]),
    ));
    for (name, from, to) in
        [("Western cliffs", [400.0, 980.0], [655.0, 980.0]), ("Eastern cliffs", [735.0, 980.0], [990.0, 980.0])]
    {
        rows.push(("cutoff_boxes", Ground::strip(from, to, 30.0).row(name, 60.0, [("cutoff_type", Value::Int(1))])));
    }
    let hit = [
        ("ani_bg_name", text("Camp Fire")),
        ("damage", 5.0_f32.into()),
        ("damage_motion", text("Burn")),
        ("hit_times", Value::List(vec![0.5_f32.into(), 1.0_f32.into()])),
    ];
    rows.push(("event_hit_boxes", Ground::new([1440.0, 250.0], [22.0; 2]).row("Flames of the camp fire", 6.0, hit)));
    for (name, middle, icon) in ICONS {
        rows.push((
            "mini_map_icon_boxes",
            Ground::new(middle, [8.0; 2]).row(name, 4.0, [("icon_type", Value::Int(icon))]),
        ));
    }
    for (name, middle, size, action) in [
        ("Who passes the gate", [700.0, 130.0], [60.0, 24.0], "Greet"),
        ("A coin for the fountain", [700.0, 500.0], [70.0, 70.0], "Splash"),
    ] {
        let fields = [("state", Value::Int(1)), ("action_motion", text(action)), ("motion", text("Idle"))];
        rows.push(("trigger_boxes", Ground::new(middle, size).row(name, 12.0, fields)));
    }
    for ((name, points, closed), number) in ROUNDS.into_iter().zip(1..) {
        let first = 100 * number;
        round(&mut rows, name, first, points, closed);
        let (is, walk) = (format!("IsNpc({name})"), format!("FollowWaypoints({name}, {first})"));
        rows.push(trigger(
            &format!("Round of {name}"),
            "Each hour, along the waypoints.",
            [&["OnHour"], &[&is], &[&walk]],
        ));
    }
    rows.push(trigger(
        "Greeting at the gate",
        "Once for each visitor.",
        [
            &["OnEnter(Who passes the gate)"],
            &["IsFirstVisit"],
            &["Say(Berrin, Welcome to Lindenhall!)", "PlayScene(Arrival at the gate)"],
        ],
    ));
    rows.push(trigger(
        "A wish at the fountain",
        "Costs one coin.",
        [&["OnEnter(A coin for the fountain)"], &["HasGold(1)"], &["TakeGold(1)", "AddBuff(Luck, 600)"]],
    ));
    scenes(&mut rows);
    rows
}

fn houses(rows: &mut Rows) {
    for (street, is_left, from, [front, depth], names) in HOUSES {
        let (_, start, end, width) = STREETS.into_iter().find(|(name, ..)| *name == street).expect("a street");
        let ground = Ground::strip(start, end, width);
        let side = if is_left { 1.0 } else { -1.0 };
        for ((n, name), number) in (0..).zip(names).zip((if is_left { 1 } else { 2 }..).step_by(2)) {
            let along = from + (front + 6.0) * n as f32 + front / 2.0 - ground.size[0] / 2.0;
            let middle = ground.at(along, side * (width / 2.0 + depth / 2.0 + 4.0));
            let house = Ground { middle, size: [front, depth], ..ground };
            let numbered = format!("{street} {number}");
            rows.push((
                "obstacle_boxes",
                house.row(if name.is_empty() { &numbered } else { name }, 16.0 + (n * 5 % 3) as f32 * 4.0, []),
            ));
        }
    }
}

/// The scene of an arrival: the camera over the gate, the bell, and the river.
fn scenes(rows: &mut Rows) {
    let vector = |v: Point3| Value::List(v.map(Value::F32).to_vec());
    let views = [
        ("Over the plaza", [700.0, 80.0, 420.0]),
        ("Along Gate Street", [700.0, 40.0, 120.0]),
        ("The harbour", [1180.0, 60.0, 480.0]),
        ("From the chapel", [1000.0, 90.0, 640.0]),
    ];
    let views = views.map(|(name, [x, y, z])| {
        let place = [("camera_pos_x", x), ("camera_pos_y", y), ("camera_pos_z", z), ("fov", 60.0)];
        let place = place.map(|(name, number)| (name, Value::F32(number)));
        map([("camera_name", text(name)), ("camera_target", text("Look at the fountain"))].into_iter().chain(place))
    });
    let fields = [("category", Value::Uint(0)), ("camera_infos", Value::List(views.to_vec()))];
    rows.push(("camera_boxes", Ground::new([660.0, 440.0], [10.0, 10.0]).row("Views of the town", 20.0, fields)));
    rows.push((
        "scenes",
        vec![
            ("file", text(r".\scene\arrival.cam")),
            ("fade_in_preview", 1.0_f32.into()),
            ("scene_fade_in", 1.0_f32.into()),
            ("scene_fade_out", 0.5_f32.into()),
            ("fog_near", 400.0_f32.into()),
            ("fog_far", 1600.0_f32.into()),
            ("position", vector([700.0, 70.0, -40.0])),
            ("rotation", vector([-15.0, 0.0, 0.0])),
            ("fov", 55.0_f32.into()),
            ("aspect_ratio", 1.5_f32.into()),
        ],
    ));
    let entry = |key: &str| map([("key", text(key))]);
    rows.push((
        "scene_elements",
        vec![
            ("name", text("Arrival at the gate")),
            ("event_entries", Value::List(vec![entry("The bell rings"), entry("Berrin greets")])),
            ("scene_indices", Value::List(vec![Value::Uint(0)])),
            ("render_ani_bg_user", Value::List(vec![entry("Fountain of the Three Fish")])),
            ("render_gimmick_user", Value::List(vec![entry("South Gate")])),
        ],
    ));
    let sound = |path: &str| map([("path", text(path)), ("vol_max", 1.0_f32.into())]);
    rows.push((
        "scene_resources",
        vec![
            ("key", text("The bell rings")),
            ("aliases", texts(["bell"])),
            ("sounds", Value::List(vec![sound(r".\sound\bell_noon.ogg")])),
            (
                "ambients",
                Value::List(vec![map([
                    ("path", text(r".\sound\river.ogg")),
                    ("play_on_start", true.into()),
                    ("loop", true.into()),
                ])]),
            ),
        ],
    ));
    let walk = [
        ("model", text(r".\model\berrin.mgm")),
        ("motion", text("Wave")),
        ("name", text("Berrin")),
        ("event_name", text("Greet")),
        ("time", Value::Uint(40)),
    ];
    rows.push((
        "scene_resources",
        vec![
            ("key", text("Berrin greets")),
            ("aliases", texts(["greeting"])),
            ("delay", 0.5_f32.into()),
            ("paths", Value::List(vec![map(walk)])),
            ("cues", Value::List(vec![map([("name", text("Welcome to Lindenhall!")), ("start", 0.5_f32.into())])])),
        ],
    ));
}

type Point3 = [f32; 3];
