//! A space as a map: the box of each instance, coloured by model, and the lights.

use super::Space;
use super::layout::Instance;
use crate::error::Result;
use crate::file_name;
use crate::geometry::METRES;
use crate::geometry::export::boxes::{self, GlbBox};
use crate::scene::{Context, Drawing, Options, SceneFormat, Shapes, no_such_kind, svg};
use crate::{
    id::Id64,
    models::{Model, ModelFiles},
    relations::IdTexts,
    report::counted,
    scene::colour,
    scene::figure::{Chart, ChartBox, ChartKind, Figure},
    scene::outline::hull,
};
use std::collections::HashMap;
use std::io::Write;

/// The `models.bin` of the space, if at hand, states how large its models are.
impl Shapes for Space {
    fn kinds(&self) -> &'static [SceneFormat] {
        &[SceneFormat::Glb, SceneFormat::Svg]
    }

    fn draw<'a>(&'a self, context: &Context<'_>, _: Options) -> Result<Box<dyn Drawing + 'a>> {
        Ok(Box::new(Plan::read(self, context)?))
    }
}

/// Models with a colour of their own. The others share one.
const COLOURED: usize = 30;

/// A chart with a box around each instance and light.
struct Plan(Chart);

impl Plan {
    fn read(space: &Space, context: &Context<'_>) -> Result<Self> {
        let models = ModelFiles::new(context).models().transpose()?.into_iter().flatten();
        let models: HashMap<u64, Model> = models.filter_map(|model| Some((model.id?, model))).collect();
        let name = space.source().stem().to_owned();
        let mut plan = Self(Chart { name, metres: Some(METRES), ..Chart::default() });
        let kinds = plan.add_kinds(space, &models)?;
        let mut without_size = 0usize;
        for (row, instance) in space.instances().iter().enumerate() {
            let id = instance.id.get();
            let kind = kinds.get(&id).copied().unwrap_or(COLOURED);
            let bounds = models.get(&id).and_then(|model| model.bounds);
            without_size = without_size.saturating_add(usize::from(bounds.is_none()));
            let name = match space.instance_name(instance)? {
                Some(name) => name.to_owned(),
                None => file_name(&model_name(space, &models, id)?).to_owned(),
            };
            let (center, sides) = boxed(instance, bounds);
            plan.add(kind, row, name, center, sides);
        }
        if space.light_count() > 0 {
            let kind = plan.add_kind("point lights".to_owned(), "point_lights", [0xe0, 0x9a, 0x10]);
            for row in 0..space.light_count() {
                let Some(light) = space.light(row) else { continue };
                let center = light.position()?.map(f64::from);
                plan.add(kind, row, format!("light {row}"), center, [[0.0; 3]; 3]);
            }
        }
        if without_size > 0 {
            let some = counted(without_size, "instance");
            plan.0.notes.push(format!("{some} without a known size: --with models.bin states how large models are."));
        }
        plan.0.sort();
        Ok(plan)
    }

    fn add_kind(&mut self, name: String, table: &'static str, colour: [u8; 3]) -> usize {
        self.0.kinds.push(ChartKind { name, table, colour });
        self.0.kinds.len().saturating_sub(1)
    }

    /// Assigns a kind to each of the most frequent models, and one kind to all others.
    fn add_kinds(&mut self, space: &Space, models: &HashMap<u64, Model>) -> Result<HashMap<u64, usize>> {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for instance in space.instances() {
            let count = counts.entry(instance.id.get()).or_default();
            *count = count.saturating_add(1);
        }
        let mut counts: Vec<(u64, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|&(id, count)| (std::cmp::Reverse(count), id));
        let own = counts.len().min(COLOURED);
        for (rank, (id, _)) in counts.iter().take(own).enumerate() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "they are between 0 and 255")]
            let colour = colour(rank, own).map(|c| (c * 255.0) as u8);
            self.add_kind(file_name(&model_name(space, models, *id)?).to_owned(), "instances", colour);
        }
        if counts.len() > own {
            let others = counted(counts.len().saturating_sub(own), "other model");
            self.add_kind(others, "instances", [0x80; 3]);
        }
        Ok(counts.into_iter().take(own).enumerate().map(|(kind, (id, _))| (id, kind)).collect())
    }

    fn add(&mut self, kind: usize, row: usize, name: String, center: [f64; 3], sides: [[f64; 3]; 3]) {
        if !center.iter().chain(sides.as_flattened()).all(|v| v.is_finite()) {
            self.0.without_place = self.0.without_place.saturating_add(1);
            return;
        }
        let [[a, _, b], [c, _, d], [e, _, f]] = sides;
        let [x, _, z] = center;
        let corners = (0..8u8).map(|n| {
            let [i, j, k] = [1, 2, 4].map(|bit| if n & bit == 0 { -1.0 } else { 1.0 });
            [x + i * a + j * c + k * e, z + i * b + j * d + k * f]
        });
        let outline = hull(corners.collect());
        self.0.boxes.push(ChartBox { kind, row, name, target: None, center, sides, outline });
    }
}

/// The path of a model, or its id if no file names it.
fn model_name(space: &Space, models: &HashMap<u64, Model>, id: u64) -> Result<String> {
    if let Some(model) = models.get(&id) {
        return Ok(model.name.clone());
    }
    let path = IdTexts::path(&*space.names, id)?;
    Ok(path.map_or_else(|| Id64(id).to_string(), std::borrow::Cow::into_owned))
}

/// The centre of an instance's box, and the vectors to three of its sides: of its position if its size is not known.
fn boxed(instance: &Instance, bounds: Option<[[f32; 3]; 2]>) -> ([f64; 3], [[f64; 3]; 3]) {
    let [min, max] = bounds.unwrap_or([[0.0; 3]; 2]).map(|corner| corner.map(f64::from));
    let matrix = instance.transform.map(|v| f64::from(v.get()));
    let [x, y, z, place] = [0, 4, 8, 12].map(|at| match matrix.get(at..) {
        Some([a, b, c, ..]) => [*a, *b, *c],
        _ => [f64::NAN; 3],
    });
    let [middle, half] = [0.5, -0.5].map(|sign| {
        let mut of = [0.0; 3];
        of.iter_mut().zip(min.iter().zip(&max)).for_each(|(of, (min, max))| *of = max / 2.0 + sign * min);
        of
    });
    let ([p, q, r], [i, j, k]) = (middle, half);
    let mut center = place;
    for moved in [scaled(x, p), scaled(y, q), scaled(z, r)] {
        center.iter_mut().zip(moved).for_each(|(at, by)| *at += by);
    }
    (center, [scaled(x, i), scaled(y, j), scaled(z, k)])
}

fn scaled(vector: [f64; 3], by: f64) -> [f64; 3] {
    vector.map(|v| v * by)
}

impl Drawing for Plan {
    fn figure(&self) -> Result<Option<Figure<'_>>> {
        Ok((!self.0.boxes.is_empty()).then_some(Figure::Chart(&self.0)))
    }

    fn write(&self, kind: SceneFormat, out: &mut dyn Write) -> Result<Vec<String>> {
        match kind {
            SceneFormat::Glb => {
                let materials =
                    self.0.kinds.iter().map(|kind| (&*kind.name, kind.colour.map(|c| f32::from(c) / 255.0)));
                let boxes = self.0.boxes.iter().map(|one| GlbBox {
                    name: &one.name,
                    material: one.kind,
                    center: one.center,
                    sides: one.sides,
                });
                boxes::write(&self.0.name, materials, boxes, out)?;
            }
            SceneFormat::Svg => svg::write_chart(&self.0, out)?,
            SceneFormat::Obj => return Err(no_such_kind(kind)),
        }
        Ok(self.0.notes.clone())
    }
}
