//! Scenes and their resources, as they are written.

use super::{Out, SHOWN};
use assetq_core::table::Value;

impl Out<'_> {
    pub(super) fn scenes(&mut self) {
        let (main, count) = (self.spec.main, self.spec.scenes);
        self.start("scenes");
        self.count(count);
        for _ in 0..count {
            let file = self.some_text("scene");
            self.set("file", file);
            let mut names = vec!["fade_in_preview", "fade_hold_preview", "fade_out_preview"];
            if main >= 15 {
                names.extend(["category", "scene_fade_in", "scene_fade_hold", "scene_fade_out", "blend_time"]);
                names.extend(["fog_near", "fog_far"]);
            }
            if main >= 19 {
                names.extend(["position", "rotation", "fov", "aspect_ratio"]);
            }
            for name in names {
                let value = match name {
                    "category" => self.uint(),
                    "position" | "rotation" => self.floats(3),
                    _ => self.float(),
                };
                self.set(name, value);
            }
            self.end_row("scenes");
        }
        if main < 20 {
            return;
        }
        self.start("scene_elements");
        for _ in 0..count {
            if main >= 21 {
                let name = self.some_text("Intro");
                self.set("name", name);
            }
            let counts: [u32; 10] = std::array::from_fn(|_| self.few());
            self.counts(&counts);
            let indices = self.list(counts[1], Self::uint);
            self.set("scene_indices", indices);
            let entries = self.list(counts[0], |out| out.named("key", "resource"));
            self.set("event_entries", entries);
            let lists = [
                "render_bg_user",
                "render_ani_bg_user",
                "render_item_box_user",
                "render_gimmick_user",
                "no_render_bg_user",
                "no_render_ani_bg_user",
                "no_render_item_box_user",
                "no_render_gimmick_user",
            ];
            for (number, name) in lists.into_iter().enumerate() {
                let value = self.list(counts[2 + number], |out| out.entry(SHOWN[number % 4]));
                self.set(name, value);
            }
            self.end_row("scene_elements");
        }
    }

    pub(super) fn scene_resource(&mut self, index: u32) {
        let main = self.spec.main;
        let key = if self.spec.wild { self.some_text("") } else { self.text(&format!("resource_{index:03}")) };
        self.set("key", key);
        let aliases = self.few();
        self.count(aliases);
        let aliases = self.list(aliases, |out| out.some_text("alias"));
        self.set("aliases", aliases);

        let paths = self.few();
        self.count(paths);
        if paths > 0 {
            let delay = self.float();
            self.set("delay", delay);
        }
        let paths = (0..paths).map(|i| self.scene_data(i + 1 == paths)).collect();
        self.set("paths", Value::List(paths));

        let map = |fields: Vec<(&'static str, Value<'static>)>| {
            Value::Map(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
        };
        if main >= 11 {
            let cues = self.few();
            self.count(cues);
            let cues = self.list(cues, |out| {
                map(vec![
                    ("delay", out.float()),
                    ("name", out.some_text("cue")),
                    ("id", out.uint()),
                    ("start", out.float()),
                ])
            });
            self.set("cues", cues);
        }
        if main >= 12 {
            let sounds = self.few();
            self.count(sounds);
            let sounds = self.list(sounds, |out| {
                let mut sound = vec![("start", out.float())];
                for name in ["fade_in", "fade_out", "vol_max", "vol_min"] {
                    sound.push((name, if main >= 16 { out.float() } else { Value::Null }));
                }
                sound.push(("path", out.some_text("sound")));
                map(sound)
            });
            self.set("sounds", sounds);
        }
        if main >= 13 {
            let value = self.uint();
            self.set("unk1", value);
        }
        if main >= 12 {
            let values = [("unk2", self.uint()), ("unk3", self.float()), ("unk4", self.uint())];
            values.into_iter().for_each(|(name, value)| self.set(name, value));
        }
        if (12..=14).contains(&main) {
            let values = self.list(7, Self::int);
            self.set("legacy_values", values);
        }
        if (12..=13).contains(&main) {
            let texts = self.list(2, |out| out.some_text("legacy"));
            self.set("legacy_texts", texts);
        }
        if main >= 17 {
            let ambients = self.few();
            self.count(ambients);
            let ambients = self.list(ambients, |out| {
                map(vec![
                    ("start", out.float()),
                    ("path", out.some_text("wind")),
                    ("play_on_start", out.flag()),
                    ("loop", out.flag()),
                ])
            });
            self.set("ambients", ambients);
        }
        self.end_row("scene_resources");
    }

    pub(super) fn scene_data(&mut self, last: bool) -> Value<'static> {
        let mut data: Vec<(std::borrow::Cow<'static, str>, Value<'static>)> = Vec::new();
        for name in ["model", "motion", "name", "event_name"] {
            data.push((name.into(), self.some_text(name)));
        }
        for name in ["time", "hold"] {
            data.push((name.into(), if self.spec.main >= 10 { self.uint() } else { Value::Null }));
        }
        data.push(("blend_time".into(), if last { Value::Null } else { self.float() }));
        Value::Map(data)
    }
}
