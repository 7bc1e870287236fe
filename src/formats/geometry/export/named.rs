//! Scenes of a `.geometry` that is named, paired and put into place by what other files know of it.

use super::{Scene, write_glb, write_obj, write_svg};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::geometry::Geometry;
use crate::report::counted;
use crate::scene::{Context, Drawing, Instance, Kind, Model, Options, Placement, Shapes};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;

/// The scene of `geometry`, named and placed as far as `context` knows. Without render sets the file's own hints pair
/// its mappings, which the notes say.
///
/// # Errors
/// When the mappings do not lie in the file, when a `space.bin` comes without its `models.bin`, and `NotFound` when
/// no visual of the database draws this file.
pub fn scene<'g>(geometry: &'g Geometry, context: &Context<'_>, options: Options) -> Result<Scene<'g>> {
    let (models, has_models) = geometry.models_in(context)?;
    let groups =
        if models.is_empty() { Cow::Borrowed(geometry.groups()?) } else { Cow::Owned(geometry.groups_of(&models)?) };
    let placed = match context.instances() {
        None => None,
        Some(instances) if has_models => Some(placements(&instances, &models)),
        Some(_) => {
            let what = "the models.bin that the instances of the space.bin refer to".to_owned();
            return Err(Error::without_offset(ErrorKind::NotFound { what }, ""));
        }
    };
    let (placements, strangers) = placed.map_or((None, 0), |(placed, strangers)| (Some(placed), strangers));
    let mut scene = Scene::new(geometry.source().stem(), geometry, &groups, placements.as_deref(), options);
    scene.dress(context, &options);
    if strangers > 0 {
        scene.notes.push(format!("{} of models that the models.bin does not have", counted(strangers, "instance")));
    }
    Ok(scene)
}

/// The places of those instances whose models are among `models`, and how many other instances there are.
fn placements(instances: &[Instance], models: &[Model]) -> (Vec<Placement>, usize) {
    let numbers: HashMap<u64, usize> = models.iter().enumerate().filter_map(|(i, m)| Some((m.id?, i))).collect();
    let place = |i: &Instance| Some(Placement { model: *numbers.get(&i.id)?, transform: i.transform });
    let placed: Vec<Placement> = instances.iter().filter_map(place).collect();
    let strangers = instances.len().saturating_sub(placed.len());
    (placed, strangers)
}

impl Shapes for Geometry {
    fn kinds(&self) -> &'static [Kind] {
        &[
            Kind::Glb,
            Kind::Obj,
            Kind::Svg,
            #[cfg(feature = "view")]
            Kind::Png,
        ]
    }

    fn draw<'a>(&'a self, context: &Context<'_>, options: Options) -> Result<Box<dyn Drawing + 'a>> {
        Ok(Box::new(scene(self, context, options)?))
    }
}

impl Drawing for Scene<'_> {
    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn damage(&self) -> &[Error] {
        &self.damage
    }

    fn beside(&self, kind: Kind) -> Result<Vec<(String, Vec<u8>)>> {
        let own = self.files.iter().map(|(name, source)| (name.clone(), source.bytes().to_vec()));
        let mut files: Vec<_> = own.collect();
        if kind == Kind::Obj {
            files.extend(super::obj::materials(self)?);
        }
        Ok(files)
    }

    #[cfg(feature = "view")]
    fn sight(&self) -> Result<Option<crate::scene::sight::Sight<'_>>> {
        Ok((!self.is_empty()).then(|| self.as_sight()))
    }

    fn write(&self, kind: Kind, out: &mut dyn Write) -> Result<Vec<String>> {
        match kind {
            Kind::Glb => write_glb(self, out)?,
            Kind::Obj => write_obj(self, out)?,
            Kind::Svg => write_svg(self, out)?,
            #[cfg(feature = "view")]
            Kind::Png => crate::write::picture::write(&self.as_sight(), out)?,
        }
        Ok(Vec::new())
    }
}
