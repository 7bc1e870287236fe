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
        (0..count).for_each(|index| self.record("scene_elements", index, |out, _| out.scene_element()));
    }

    fn scene_element(&mut self) {
        if self.spec.main >= 21 {
            self.fields("name:Intro");
        }
        let lists = "render_bg_user render_ani_bg_user render_item_box_user render_gimmick_user \
                     no_render_bg_user no_render_ani_bg_user no_render_item_box_user no_render_gimmick_user";
        let names = ["event_entries", "scene_indices"].into_iter().chain(lists.split_whitespace());
        let counts: Vec<u32> = names.map(|name| self.few(name)).collect();
        self.counts(&counts);
        let indices = self.list("scene_indices", counts[1], Self::uint);
        self.set("scene_indices", indices);
        let entries = self.list("event_entries", counts[0], |out| out.named("key", "resource"));
        self.set("event_entries", entries);
        let lists = self.shown(lists, &counts[2..]);
        self.row.extend(lists);
    }

    pub(super) fn scene_resource(&mut self, index: u32) {
        let main = self.spec.main;
        if self.spec.wild || self.spec.is_described() {
            self.fields("key:");
        } else {
            let key = self.text(&format!("resource_{index:03}"));
            self.set("key", key);
        }
        self.counted("aliases", |out| out.some_text("alias"));

        let count = self.few("paths");
        self.count(count);
        if count > 0 {
            self.fields("delay:float");
        }
        let mut numbers = 1..=count;
        let paths = self.list("paths", count, |out| out.scene_data(numbers.next() == Some(count)));
        self.set("paths", paths);

        if main >= 11 {
            self.counted("cues", |out| map(out.values("delay:float name:cue id:uint start:float")));
        }
        if main >= 12 {
            self.counted("sounds", |out| {
                let mut sound = out.values("start:float");
                for name in ["fade_in", "fade_out", "vol_max", "vol_min"] {
                    sound.push((name, if main >= 16 { out.member(name, Self::float) } else { Value::Null }));
                }
                sound.extend(out.values("path:sound"));
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
            data.push((name, if self.spec.main >= 10 { self.member(name, Self::uint) } else { Value::Null }));
        }
        data.push(("blend_time", if last { Value::Null } else { self.member("blend_time", Self::float) }));
        map(data)
    }
}
