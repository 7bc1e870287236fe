//! Scenes and their resources, as they are written.

use super::{Out, map};
use assetq_core::table::Value;

impl Out<'_> {
    pub(super) fn scenes(&mut self) {
        let (main, count) = (self.spec.main, self.spec.scenes);
        self.records("scenes", count, |out, _| {
            out.fields("file:scene fade_in_preview:float fade_hold_preview:float fade_out_preview:float");
            if out.spec.main >= 15 {
                out.fields("category:uint scene_fade_in:float scene_fade_hold:float scene_fade_out:float");
                out.fields("blend_time:float fog_near:float fog_far:float");
            }
            if out.spec.main >= 19 {
                out.fields("position:float*3 rotation:float*3 fov:float aspect_ratio:float");
            }
        });
        if main < 20 {
            return;
        }
        self.start("scene_elements");
        for _ in 0..count {
            if main >= 21 {
                self.fields("name:Intro");
            }
            let counts: [u32; 10] = std::array::from_fn(|_| self.few());
            self.counts(&counts);
            let indices = self.list(counts[1], Self::uint);
            self.set("scene_indices", indices);
            let entries = self.list(counts[0], |out| out.named("key", "resource"));
            self.set("event_entries", entries);
            let lists = "render_bg_user render_ani_bg_user render_item_box_user render_gimmick_user \
                         no_render_bg_user no_render_ani_bg_user no_render_item_box_user no_render_gimmick_user";
            let lists = self.shown(lists, &counts[2..]);
            self.row.extend(lists);
            self.end_row("scene_elements");
        }
    }

    pub(super) fn scene_resource(&mut self, index: u32) {
        let main = self.spec.main;
        let key = if self.spec.wild { self.some_text("") } else { self.text(&format!("resource_{index:03}")) };
        self.set("key", key);
        self.counted("aliases", |out| out.some_text("alias"));

        let paths = self.few();
        self.count(paths);
        if paths > 0 {
            self.fields("delay:float");
        }
        let paths = (0..paths).map(|i| self.scene_data(i + 1 == paths)).collect();
        self.set("paths", Value::List(paths));

        if main >= 11 {
            self.counted("cues", |out| map(out.values("delay:float name:cue id:uint start:float")));
        }
        if main >= 12 {
            self.counted("sounds", |out| {
                let mut sound = vec![("start", out.float())];
                for name in ["fade_in", "fade_out", "vol_max", "vol_min"] {
                    sound.push((name, if main >= 16 { out.float() } else { Value::Null }));
                }
                sound.push(("path", out.some_text("sound")));
                map(sound)
            });
        }
        for (versions, field) in [
            (13..=i32::MAX, "unk1:uint"),
            (12..=i32::MAX, "unk2:uint unk3:float unk4:uint"),
            (12..=14, "legacy_values:int*7"),
            (12..=13, "legacy_texts:legacy*2"),
        ] {
            if versions.contains(&main) {
                self.fields(field);
            }
        }
        if main >= 17 {
            self.counted("ambients", |out| map(out.values("start:float path:wind play_on_start:flag loop:flag")));
        }
    }

    fn scene_data(&mut self, last: bool) -> Value<'static> {
        let mut data = self.values("model:model motion:motion name:name event_name:event_name");
        for name in ["time", "hold"] {
            data.push((name, if self.spec.main >= 10 { self.uint() } else { Value::Null }));
        }
        data.push(("blend_time", if last { Value::Null } else { self.float() }));
        map(data)
    }
}
