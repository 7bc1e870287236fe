//! Every kind of record, described once: its fields, their kinds and their versions.
//!
//! Sections (§) refer to docs/formats/wdata.md. Its two sources disagree about some versions; the versions of the published program are
//! used.

use super::fields::Gate::{AniBg, Any, EventBox, FirstOrEventBox, ItemBox, Main, NotLast};
use super::fields::StoredKind::{Array, Bool, Count, Float, Int, List, Record, Text, Uint};
use super::fields::{Gate, MapField, StoredKind, field};
use super::tables::RecordTable::{Boxes, EventBoxes, Section};
use super::trailing::Section::{AniBgs, Gimmicks, ItemBoxes, SceneResources};
use crate::schema::is_same_text;
use std::fmt;

/// A kind of record: the table that shows it and the fields it has.
#[derive(Debug)]
pub struct RecordShape {
    /// The name of its table, and of its section.
    pub name: &'static str,
    /// Whether it begins with the fields of [`PLACE`].
    pub placed: bool,
    pub fields: &'static [MapField],
}

/// The fields of [`PLACE`], and more.
macro_rules! placed {
    ($($own:expr),* $(,)?) => { [
        field("name", Text).label(),
        field("pos_x", Float),
        field("pos_y", Float),
        field("pos_z", Float),
        field("scale_x", Float).aside().by_default(1.0),
        field("scale_y", Float).aside().by_default(1.0),
        field("scale_z", Float).aside().by_default(1.0),
        field("rot_x", Float).aside(),
        field("rot_y", Float).aside(),
        field("rot_z", Float).aside(),
        field("rot_w", Float).aside().by_default(1.0),
        field("ext_x", Float).aside().by_default(1.0),
        field("ext_y", Float).aside().by_default(1.0),
        field("ext_z", Float).aside().by_default(1.0),
        $($own),*
    ] };
}

/// The fields that each record with a place begins with: a name, and the numbers of an [`Obb`](super::layout::Obb).
pub const PLACE: [MapField; 14] = placed![];

impl RecordShape {
    const fn placed(name: &'static str, fields: &'static [MapField]) -> Self {
        Self { name, placed: true, fields }
    }

    const fn plain(name: &'static str, fields: &'static [MapField]) -> Self {
        Self { name, placed: false, fields }
    }

    /// The minimum size of one of these in any version.
    pub(super) const fn least(&self) -> usize {
        let (mut bytes, mut rest) = (0usize, self.fields);
        while let [field, others @ ..] = rest {
            if matches!(field.gate, Gate::Always) {
                bytes = bytes.saturating_add(field.kind.least());
            }
            rest = others;
        }
        bytes
    }

    /// The number of field `name`, for use at compile time: a missing name does not compile.
    pub(super) const fn number(&self, name: &str) -> usize {
        let (mut number, mut rest) = (0usize, self.fields);
        while let [field, others @ ..] = rest {
            if is_same_text(field.name, name) {
                return number;
            }
            (number, rest) = (number.saturating_add(1), others);
        }
        panic!("no such field");
    }

    pub fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| f.name == name)
    }
}

macro_rules! box_types {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $table:literal, [$($field:expr),* $(,)?];)+) => {
        /// The types of event boxes (§4.3).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum BoxType {
            $($(#[$doc])* $name = $number,)+
        }

        impl BoxType {
            /// All types, in the order of their numbers.
            pub const ALL: [Self; BoxType::COUNT] = [$(Self::$name),+];

            /// The name in §4.3.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            pub const fn shape(self) -> &'static RecordShape {
                match self {
                    $(Self::$name => {
                        static SHAPE: RecordShape = RecordShape::placed($table, &placed![$($field),*]);
                        &SHAPE
                    })+
                }
            }
        }
    };
}

impl BoxType {
    pub const COUNT: usize = 19;

    /// The box type's number: the row of the event-box table.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for BoxType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const FLOAT3: StoredKind = Array(&Float, 3);

const fn since_main(version: i32) -> Gate {
    Main(version, i32::MAX)
}

const fn since_event_box(version: i32) -> Gate {
    EventBox(version, i32::MAX)
}

const ID: MapField = field("id", Int);

box_types! {
    /// A volume with up to four camera views.
    CameraBox = 0, "camera_boxes", [
        field("category", Uint).when(since_event_box(7)),
        field("camera_infos", Array(&Record(CAMERA_INFO), 4)),
    ];
    /// A place where enemies appear.
    RespawnBox = 1, "respawn_boxes", [
        field("total_enemy_num", Int),
        field("enemy_num", Int),
        field("enemy_name", Text),
        field("respawn_time", Float),
        field("respawn_motion", Text),
        field("in_check", Bool),
        field("random_direction", Bool),
        field("difficulty", Array(&Bool, 5)),
    ];
    /// A place where a player starts.
    StartPointBox = 2, "start_point_boxes", [ID];
    /// A volume that sets off scripted events.
    TriggerBox = 3, "trigger_boxes", [
        field("state", Int),
        field("action_motion", Text),
        field("motion", Text),
        field("signpost_text_id", Int).when(since_event_box(9)),
        field("signpost_pos_x", Float).when(since_event_box(9)),
        field("signpost_pos_y", Float).when(since_event_box(9)),
        field("signpost_pos_z", Float).when(since_event_box(9)),
    ];
    /// A volume that pushes who enters it.
    SkidBox = 4, "skid_boxes", [
        field("state", Int),
        field("velocity", FLOAT3),
        field("end_time", Float),
        field("duration", Float),
    ];
    /// A volume that harms who enters it.
    EventHitBox = 5, "event_hit_boxes", [
        field("state", Uint),
        field("ani_bg_name", Text).names(Section(AniBgs)),
        field("damage", Float),
        field("direction", FLOAT3),
        field("damage_motion", Text),
        field("hit_count", Count),
        field("temp_hit_count", Count),
        field("hit_times", List(&Float, 0)),
        field("temp_hit_times", List(&Float, 1)),
    ];
    /// The place of an NPC.
    NpcBox = 6, "npc_boxes", [field("npc_name", Text), ID, field("instance_id", Int)];
    /// A way to another map.
    PortalBox = 7, "portal_boxes", [
        field("warp_map_name", Text),
        ID,
        field("msg_type", Int),
        field("warp_map_id", Int),
        field("warp_portal_id", Int),
        field("active", Bool),
    ];
    /// A way to a map that the player chooses.
    SelectMapPortalBox = 8, "select_map_portal_boxes", [ID, field("msg_type", Int), field("active", Bool)];
    /// A volume that sets off an event while someone is in it.
    InAreaBox = 9, "in_area_boxes", [field("warp_map_name", Text), ID, field("active", Bool)];
    /// Anything else.
    EtcBox = 10, "etc_boxes", [ID];
    /// A volume that the camera does not enter.
    CameraBlockBox = 11, "camera_block_boxes", [];
    /// A volume that navigation leaves out.
    CutoffBox = 12, "cutoff_boxes", [field("cutoff_type", Int)];
    /// A target that a camera looks at.
    CameraTargetBox = 13, "camera_target_boxes", [
        field("name_deprecated", Text).when(EventBox(i32::MIN, 7)),
        field("name_text_id", Int).when(since_event_box(8)),
        field("target_local_pc", Bool).when(since_event_box(2)),
    ];
    /// Not in use: no layout is known, so that a map with such boxes is damaged.
    UnusedBox = 14, "unused_boxes", [];
    /// The place of an icon of the small map.
    MiniMapIconBox = 15, "mini_map_icon_boxes", [field("icon_type", Int)];
    /// A volume with a special echo.
    EnvironmentReverbBox = 16, "environment_reverb_boxes", [field("reverb_type", Int)];
    /// A node of the graph along which things move.
    WaypointBox = 17, "waypoint_boxes", [
        ID.unique(),
        field("range", Float),
        field("link_count", Count),
        field("links", List(&Int, 0)).names(Boxes(BoxType::WaypointBox)),
        field("link_distances", List(&Float, 0)),
    ];
    /// An obstacle that players cannot walk through.
    ObstacleBox = 18, "obstacle_boxes", [];
}

/// A name of something, with its category from main version 22 on.
const ENTRY: &[MapField] = &[field("category", Uint).when(since_main(22)), field("key", Text)];
/// A name of something, with its category in every version.
const ELEMENT: &[MapField] = &[field("category", Uint), field("key", Text)];
const PVS_EVENT: &[MapField] = &[field("category", Uint), field("name", Text)];

const CAMERA_INFO: &[MapField] = &[
    field("camera_target", Text).when(FirstOrEventBox(3)),
    field("camera_name", Text),
    field("camera_pos_x", Float),
    field("camera_pos_y", Float),
    field("camera_pos_z", Float),
    field("camera_rot_x", Float),
    field("camera_rot_y", Float),
    field("camera_rot_z", Float),
    field("fov", Float),
    field("frustum", Array(&Float, 14)),
    field("build_pvs", Bool).when(since_event_box(5)),
    field("pvs_bg_count", Count).when(since_event_box(4)),
    field("pvs_event_box_count", Count).when(since_event_box(4)),
    field("render_bg_count", Count).when(since_event_box(4)),
    field("render_ani_count", Count).when(since_event_box(4)),
    field("render_item_count", Count).when(since_event_box(4)),
    field("render_gimmick_count", Count).when(since_event_box(4)),
    field("no_render_bg_count", Count).when(since_event_box(4)),
    field("no_render_ani_count", Count).when(since_event_box(4)),
    field("no_render_item_count", Count).when(since_event_box(4)),
    field("no_render_gimmick_count", Count).when(since_event_box(4)),
    field("build_pos_count", Count).when(since_event_box(4)),
    field("pvs_bg_ids", List(&Uint, 0)).when(since_event_box(4)),
    field("pvs_event_box_ids", List(&Uint, 1)).when(EventBox(4, 5)),
    field("pvs_event_entries", List(&Record(PVS_EVENT), 1)).when(since_event_box(6)).names(EventBoxes),
    field("render_bg_list", List(&Record(ENTRY), 2)).when(since_event_box(4)),
    field("render_ani_list", List(&Record(ENTRY), 3)).when(since_event_box(4)).names(Section(AniBgs)),
    field("render_item_list", List(&Record(ENTRY), 4)).when(since_event_box(4)).names(Section(ItemBoxes)),
    field("render_gimmick_list", List(&Record(ENTRY), 5)).when(since_event_box(4)).names(Section(Gimmicks)),
    field("no_render_bg_list", List(&Record(ENTRY), 6)).when(since_event_box(4)),
    field("no_render_ani_list", List(&Record(ENTRY), 7)).when(since_event_box(4)).names(Section(AniBgs)),
    field("no_render_item_list", List(&Record(ENTRY), 8)).when(since_event_box(4)).names(Section(ItemBoxes)),
    field("no_render_gimmick_list", List(&Record(ENTRY), 9)).when(since_event_box(4)).names(Section(Gimmicks)),
    field("build_pos_list", List(&FLOAT3, 10)).when(since_event_box(4)),
];

/// The fields after the main version (§2). No reader uses the counts of scripts.
pub static HEADER: RecordShape = RecordShape::plain(
    "header",
    &[
        field("event_box_version", Int).when(since_main(7)),
        field("ani_bg_version", Int).when(since_main(7)),
        field("item_box_version", Int).when(since_main(7)),
        field("gimmick_version", Int).when(since_main(8)),
        field("script_count1", Int).when(since_main(9)),
        field("script_condition_count1", Int).when(since_main(16)),
        field("script_count2", Int).when(since_main(18)),
        field("script_condition_count2", Int).when(since_main(18)),
    ],
);

/// The paths after the header (§3).
pub static LEADING_PATHS: RecordShape = RecordShape::plain(
    "paths",
    &[
        field("model_path", Text),
        field("nav_mesh_path", Text),
        field("nav_height_path", Text).when(since_main(2)),
        field("event_box_path", Text),
    ],
);

/// Animated backgrounds (§5).
pub static ANI_BGS: RecordShape = RecordShape::placed(
    "ani_bgs",
    &placed![
        field("model", Text),
        field("motion", Text),
        field("loop", Bool),
        field("light_index", Int),
        field("cover_index", Int),
        field("shadow", Bool).when(AniBg(3)),
        field("move_weight", Bool).when(AniBg(4)),
        field("pvs_rad", Float).when(AniBg(5)),
    ],
);

/// Chests and the like (§5).
pub static ITEM_BOXES: RecordShape = RecordShape::placed(
    "item_boxes",
    &placed![
        field("model", Text),
        field("motion", Text),
        field("table_path", Text),
        field("loop", Bool),
        field("open_enable", Bool).when(ItemBox(3)),
    ],
);

/// Traps, levers, platforms (§5).
pub static GIMMICKS: RecordShape = RecordShape::placed(
    "gimmicks",
    &placed![
        field("model", Text),
        field("motion", Text),
        field("loop_flag", Int),
        field("light_index", Int),
        field("cover_index", Int),
        field("shadow", Int),
        field("move_weight", Int),
        field("template_id", Int),
    ],
);

/// The paths after the gimmicks (§6).
pub static TRAILING_PATHS: RecordShape = RecordShape::plain(
    "trailing_paths",
    &[field("obstacle_path", Text).when(since_main(2)), field("moc_path", Text), field("ani_bg_path", Text)],
);

/// The head of both trigger layouts (§7.1).
pub static TRIGGER_HEAD: RecordShape = RecordShape::plain(
    "trigger_head",
    &[field("reserved0", Int), field("script_dir", Text), field("reserved1", Int), field("main_script", Text)],
);

/// The trigger list (§7.2).
pub static TRIGGERS: RecordShape = RecordShape::plain(
    "triggers",
    &[
        field("name", Text).label(),
        field("comment", Text),
        field("event_count", Count),
        field("condition_count", Count),
        field("action_count", Count),
        field("events", List(&Text, 0)),
        field("conditions", List(&Text, 1)),
        field("actions", List(&Text, 2)),
    ],
);

/// The script lists (§7.2): one record.
pub static SCRIPTS: RecordShape = RecordShape::plain(
    "scripts",
    &[
        field("event_script_count", Count),
        field("condition_script_count", Count),
        field("action_script_count", Count),
        field("event_script_paths", List(&Text, 0)),
        field("condition_script_paths", List(&Text, 1)),
        field("action_script_paths", List(&Text, 2)),
    ],
);

/// The first pass over the scenes: their cameras (§8).
pub static SCENES: RecordShape = RecordShape::plain(
    "scenes",
    &[
        field("file", Text).label(),
        field("fade_in_preview", Float),
        field("fade_hold_preview", Float),
        field("fade_out_preview", Float),
        field("category", Uint).when(since_main(15)),
        field("scene_fade_in", Float).when(since_main(15)),
        field("scene_fade_hold", Float).when(since_main(15)),
        field("scene_fade_out", Float).when(since_main(15)),
        field("blend_time", Float).when(since_main(15)),
        field("fog_near", Float).when(since_main(15)),
        field("fog_far", Float).when(since_main(15)),
        field("position", FLOAT3).when(since_main(19)),
        field("rotation", FLOAT3).when(since_main(19)),
        field("fov", Float).when(since_main(19)),
        field("aspect_ratio", Float).when(since_main(19)),
    ],
);

/// The second pass over the scenes, from main version 20 on: the things that they show and hide (§8).
pub static SCENE_ELEMENTS: RecordShape = RecordShape::plain(
    "scene_elements",
    &[
        field("name", Text).when(since_main(21)).label(),
        field("event_entry_count", Count),
        field("scene_id_count", Count),
        field("render_bg_count_user", Count),
        field("render_ani_count_user", Count),
        field("render_item_count_user", Count),
        field("render_gimmick_count_user", Count),
        field("no_render_bg_count_user", Count),
        field("no_render_ani_count_user", Count),
        field("no_render_item_count_user", Count),
        field("no_render_gimmick_count_user", Count),
        field("scene_indices", List(&Uint, 1)),
        field("event_entries", List(&Record(ELEMENT), 0)).names(Section(SceneResources)),
        field("render_bg_user", List(&Record(ENTRY), 2)),
        field("render_ani_bg_user", List(&Record(ENTRY), 3)).names(Section(AniBgs)),
        field("render_item_box_user", List(&Record(ENTRY), 4)).names(Section(ItemBoxes)),
        field("render_gimmick_user", List(&Record(ENTRY), 5)).names(Section(Gimmicks)),
        field("no_render_bg_user", List(&Record(ENTRY), 6)),
        field("no_render_ani_bg_user", List(&Record(ENTRY), 7)).names(Section(AniBgs)),
        field("no_render_item_box_user", List(&Record(ENTRY), 8)).names(Section(ItemBoxes)),
        field("no_render_gimmick_user", List(&Record(ENTRY), 9)).names(Section(Gimmicks)),
    ],
);

const SCENE_DATA: &[MapField] = &[
    field("model", Text),
    field("motion", Text),
    field("name", Text),
    field("event_name", Text),
    field("time", Uint).when(since_main(10)),
    field("hold", Uint).when(since_main(10)),
    field("blend_time", Float).when(NotLast),
];

const CUE: &[MapField] = &[field("delay", Float), field("name", Text), field("id", Uint), field("start", Float)];

const SOUND: &[MapField] = &[
    field("start", Float),
    field("fade_in", Float).when(since_main(16)),
    field("fade_out", Float).when(since_main(16)),
    field("vol_max", Float).when(since_main(16)),
    field("vol_min", Float).when(since_main(16)),
    field("path", Text),
];

const AMBIENT: &[MapField] =
    &[field("start", Float), field("path", Text), field("play_on_start", Bool), field("loop", Bool)];

/// Resources that scenes play (§9). The fields `legacy_values` and `legacy_texts` have no name in any source: the published
/// program reads them from some versions and drops them.
pub static SCENE_RESOURCES: RecordShape = RecordShape::plain(
    "scene_resources",
    &[
        field("key", Text).label(),
        field("alias_count", Count),
        field("aliases", List(&Text, 0)),
        field("path_count", Count),
        field("delay", Float).when(Any(1)),
        field("paths", List(&Record(SCENE_DATA), 1)),
        field("cue_count", Count).when(since_main(11)),
        field("cues", List(&Record(CUE), 2)).when(since_main(11)),
        field("sound_count", Count).when(since_main(12)),
        field("sounds", List(&Record(SOUND), 3)).when(since_main(12)),
        field("unk1", Uint).when(since_main(13)),
        field("unk2", Uint).when(since_main(12)),
        field("unk3", Float).when(since_main(12)),
        field("unk4", Uint).when(since_main(12)),
        field("legacy_values", Array(&Int, 7)).when(Main(12, 14)),
        field("legacy_texts", Array(&Text, 2)).when(Main(12, 13)),
        field("ambient_count", Count).when(since_main(17)),
        field("ambients", List(&Record(AMBIENT), 4)).when(since_main(17)),
    ],
);

#[cfg(test)]
mod tests {
    use super::super::fields::Versions;
    use super::*;

    /// Every list has a preceding count in its own record.
    fn lists_follow_their_counts(fields: &[MapField]) {
        let mut counts = 0;
        for field in fields {
            match field.kind {
                Count => counts += 1,
                List(item, number) => {
                    assert!(number < counts, "{}", field.name);
                    if let Record(inner) = item {
                        lists_follow_their_counts(inner);
                    }
                }
                Array(&Record(inner), _) | Record(inner) => lists_follow_their_counts(inner),
                _ => {}
            }
            assert!(counts <= 11, "{}", field.name);
        }
    }

    #[test]
    fn descriptions_hold_together() {
        let others = [
            &HEADER,
            &LEADING_PATHS,
            &ANI_BGS,
            &ITEM_BOXES,
            &GIMMICKS,
            &TRAILING_PATHS,
            &TRIGGER_HEAD,
            &TRIGGERS,
            &SCRIPTS,
            &SCENES,
            &SCENE_ELEMENTS,
            &SCENE_RESOURCES,
        ];
        for shape in BoxType::ALL.iter().map(|t| t.shape()).chain(others) {
            lists_follow_their_counts(shape.fields);
        }
        for (number, box_type) in BoxType::ALL.iter().enumerate() {
            assert_eq!(usize::from(box_type.number()), number);
        }
    }

    /// The minimum size counts the fields that every version stores.
    #[test]
    fn a_shape_knows_its_fields_by_their_names_and_its_minimum_size() {
        let own = placed![field("text", Text), field("late", Int).when(since_main(22))];
        let shape = RecordShape::placed("lamps", Vec::leak(own.to_vec()));
        assert!(shape.placed && !RecordShape::plain("lamps", &[]).placed);
        assert_eq!(["name", "rot_w", "text", "late"].map(|name| shape.number(name)), [0, 10, 14, 15]);
        assert_eq!(shape.least(), 2 + 13 * 4 + 2);
        let versions = |main, event_box| Versions { main, event_box, ani_bg: 0, item_box: 0, gimmick: 0 };
        assert_eq!([21, 22].map(|main| since_main(22).decide(&versions(main, 1))), [Some(false), Some(true)]);
        assert_eq!([8, 9].map(|boxes| since_event_box(9).decide(&versions(1, boxes))), [Some(false), Some(true)]);
    }

    #[test]
    #[should_panic(expected = "no such field")]
    fn a_name_of_no_field_does_not_compile_in_a_constant() {
        ANI_BGS.number("colour");
    }
}
