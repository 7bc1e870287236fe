//! Scenes of a `.geometry` that is named, paired and put into place by what other files know of it.

use super::Scene;
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::{Geometry, Splash};
use crate::models::{Instance, Model, ModelFiles, Placement};
use crate::reader::FileFormat as _;
use crate::report::counted;
use crate::scene::{Context, Drawing, Options, SceneFormat, Shapes, glb, obj, svg};
use std::collections::HashMap;
use std::io::Write;

/// The scene of `geometry`, named and placed as far as `context` knows. Without render sets the file's own hints pair
/// its mappings. The notes list guesses, and files of the context that do not draw this one.
///
/// # Errors
/// When the mappings do not lie in the file, and `NotFound` when a `space.bin` comes without its `models.bin`.
pub fn scene<'g>(geometry: &'g Geometry, context: &Context<'_>, options: Options) -> Result<Scene<'g>> {
    let files = ModelFiles::new(context);
    let known = geometry.models_in(&files, context.is_implied)?;
    let groups = geometry.groups_by(&known)?;
    let (placements, strangers) = match files.instances() {
        None => (None, 0),
        Some(instances) if known.are_of_space => placements(&instances, &known.models),
        Some(_) => {
            let what = "the instances of the space.bin need its models.bin, too".to_owned();
            return Err(Error::of_part(ErrorKind::NotFound { what }, ""));
        }
    };
    let mut scene = Scene::new(geometry.source().stem(), geometry, &groups, placements.as_deref(), options);
    match scene.note(geometry.companions()).flatten() {
        Some(companions) => {
            scene.dress(&files.after(companions), context.textures, &options, &|id| companions.material(id))
        }
        None => scene.dress(&files, context.textures, &options, &|_| None),
    }
    if options.boxes
        && placements.is_none()
        && let Some(splash) = context.companion.and_then(|companion| companion.get::<Splash>())
    {
        scene.add_splash(splash)?;
    }
    if strangers > 0 {
        scene.notes.push(format!("{} of models that the models.bin does not have", counted(strangers, "instance")));
    }
    Ok(scene)
}

/// The places of those instances whose models are among `models`, and how many other instances there are.
fn placements(instances: &[Instance], models: &[Model]) -> (Option<Vec<Placement>>, usize) {
    let numbers: HashMap<u64, usize> = models.iter().enumerate().filter_map(|(i, m)| Some((m.id?, i))).collect();
    let placed = instances.iter().enumerate().filter_map(|(row, instance)| {
        Some(Placement { model: *numbers.get(&instance.id)?, row, transform: instance.transform })
    });
    let placed: Vec<Placement> = placed.collect();
    let strangers = instances.len().saturating_sub(placed.len());
    (Some(placed), strangers)
}

impl Shapes for Geometry {
    fn kinds(&self) -> &'static [SceneFormat] {
        &[SceneFormat::Glb, SceneFormat::Obj, SceneFormat::Svg]
    }

    fn companion(&self) -> Option<&'static str> {
        Some(Splash::NAME)
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

    fn beside(&self, kind: SceneFormat) -> Result<Vec<(String, Vec<u8>)>> {
        let own = self.files.iter().map(|(name, source)| (name.clone(), source.bytes().to_vec()));
        let mut files: Vec<_> = own.collect();
        if kind == SceneFormat::Obj {
            files.extend(obj::materials(&self.model())?);
        }
        Ok(files)
    }

    fn figure(&self) -> Result<Option<crate::scene::figure::Figure<'_>>> {
        Ok((!self.is_empty()).then(|| self.as_figure()))
    }

    fn write(&self, kind: SceneFormat, out: &mut dyn Write) -> Result<Vec<String>> {
        match kind {
            SceneFormat::Glb | SceneFormat::Obj if self.is_empty() => {
                let what = "there are no meshes, armour, hulls or boxes to draw".to_owned();
                return Err(Error::of_part(ErrorKind::NotFound { what }, ""));
            }
            SceneFormat::Glb => glb::write(&self.model(), out)?,
            SceneFormat::Obj => obj::write(&self.model(), out)?,
            SceneFormat::Svg => svg::write(&self.model(), out)?,
        }
        Ok(Vec::new())
    }
}
