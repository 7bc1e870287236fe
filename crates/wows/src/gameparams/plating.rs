//! The thickness of the plates of models, for the files of meshes that have these plates.

use super::Params;
use super::catalog::PartRow;
use super::parts::EntityPart;
use crate::armor::{PlateUse, Plating};
use crate::error::Result;
use assetq_core::suggest;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The ending of the paths of models.
const MODEL: &str = ".model";
/// The folder that all paths of models begin with.
const CONTENT: &str = "content/";

/// The end of the path of the model whose meshes are in `file`: all of it where the path in the game is known, and its
/// last part otherwise. A model and its meshes lie side by side under one name (docs/formats/gameparams.md §4).
fn model_of(file: &str) -> String {
    let file = file.replace('\\', "/");
    let path = match file.rfind(CONTENT) {
        Some(at) => file.get(at..).unwrap_or(&file),
        None => file.rsplit(['/', crate::archive::MARK]).next().unwrap_or(&file),
    };
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    format!("{stem}{MODEL}")
}

fn text(node: Option<super::Node<'_>>) -> Result<Option<String>> {
    Ok(node.map(super::Node::text).transpose()?.flatten().map(Cow::into_owned))
}

impl Plating for Params {
    fn armor_of(&self, file: &str) -> Result<Vec<PlateUse>> {
        let (pickle, model) = (self.pickle()?, model_of(file));
        let mut uses: Vec<PlateUse> = Vec::new();
        for row in &self.catalog()?.armored {
            let Ok(Some(found)) = row.part(pickle).model() else { continue };
            if !found.strip_suffix(&model).is_some_and(|folder| folder.is_empty() || folder.ends_with('/')) {
                continue;
            }
            let found = self.use_of(row)?;
            // Mounts of one component that are armoured alike are one use.
            let alike = uses.iter_mut().find(|known| {
                let same = (&known.entity, &known.component) == (&found.entity, &found.component);
                same && !known.mounts.is_empty() && known.is_like(&found)
            });
            match alike {
                Some(known) => known.mounts.extend(found.mounts),
                None => uses.push(found),
            }
        }
        // Guns by themselves state the same as the ships that have them.
        if uses.iter().any(|found| found.ship.is_some()) {
            uses.retain(|found| found.ship.is_some());
        }
        Ok(uses)
    }

    fn why_unknown(&self, file: &str) -> Result<String> {
        let (pickle, model) = (self.pickle()?, model_of(file));
        let armored = self.catalog()?.armored.iter();
        let models: BTreeSet<String> =
            armored.filter_map(|row| Some(row.part(pickle).model().ok()??.into_owned())).collect();
        Ok(format!("no ship or gun of the parameters has the model {model}{}", suggest::hint(&model, models)))
    }
}

impl Params {
    fn use_of(&self, row: &PartRow) -> Result<PlateUse> {
        let pickle = self.pickle()?;
        let part = row.part(pickle);
        let entity = self.entity(row.entity as usize)?;
        let mut parts = vec![part];
        if let (Some(entity), true) = (&entity, part.mount.is_some()) {
            parts.extend(self.of_hulls(entity, part));
        }
        let plates = parts.into_iter().flat_map(EntityPart::armor);
        let plates = plates.filter_map(|plate| Some(((plate.layer, plate.material), plate.thickness.number()?)));
        let name = entity.map_or(Ok(Cow::Borrowed("")), |entity| entity.name())?.into_owned();
        let mut found = PlateUse::new(name.clone(), plates.collect());
        found.ship = entity.is_some_and(|entity| entity.is("Ship")).then_some(name);
        found.component = text(part.component)?;
        found.mounts = text(part.mount)?.into_iter().collect();
        Ok(found)
    }

    /// The hull under a mount, whose armour counts for plates that the mount states nothing of: the one that an upgrade sells
    /// with the mount's component. `None` where there are several that differ.
    fn of_hulls<'a>(&self, entity: &super::Entity<'a>, mount: EntityPart<'a>) -> Option<EntityPart<'a>> {
        let component = mount.component?.text().ok()??;
        let mut found: Option<EntityPart<'a>> = None;
        for upgrade in entity.upgrades() {
            if !upgrade.components().any(|(_, name)| name.is_text(&component)) {
                continue;
            }
            for (_, name) in upgrade.components().filter(|(kind, _)| kind.is_text("hull")) {
                let name = name.text().ok()??;
                let hull = entity.components().find(|part| part.component.is_some_and(|key| key.is_text(&name)))?;
                if found.is_some_and(|found| found != hull) {
                    return None;
                }
                found = Some(hull);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::model_of;

    #[test]
    fn a_model_lies_beside_its_meshes() {
        for (file, model) in [
            ("GAME:content/gameplay/usa/a/a.geometry", "content/gameplay/usa/a/a.model"),
            ("C:\\unpacked\\content\\gameplay\\a.geometry", "content/gameplay/a.model"),
            ("/tmp/AGM034.geometry", "AGM034.model"),
            ("AGM034.geometry", "AGM034.model"),
        ] {
            assert_eq!(model_of(file), model, "{file}");
        }
    }
}
