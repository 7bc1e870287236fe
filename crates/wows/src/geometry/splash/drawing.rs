//! The boxes of a `.splash` as solids, coloured by the kind that their names begin with.

#![expect(clippy::indexing_slicing, reason = "numbers of axes")]

use super::super::export::Scene;
use super::super::export::boxes::{self, GlbBox, HIT_BOXES};
use super::super::{AXES, METRES};
use super::{Splash, SplashBox};
use crate::error::{Error, ErrorKind, Result};
use crate::scene::cube;
use crate::scene::figure::{
    Arrangement, Figure, Iter, PaintedSolid, Solid, SolidInstance, SolidKind, SolidMaterial, Solids, SurfaceMaps,
};
use crate::scene::{self, Context, Drawing, Options, SceneFormat, Shapes, no_such_kind};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;

impl Shapes for Splash {
    fn kinds(&self) -> &'static [SceneFormat] {
        &[SceneFormat::Glb]
    }

    fn draw<'a>(&'a self, _: &Context<'_>, _: Options) -> Result<Box<dyn Drawing + 'a>> {
        Ok(Box::new(Boxes::read(self)?))
    }
}

/// A box to be drawn.
#[derive(Debug)]
struct Drawn<'a> {
    name: &'a str,
    material: usize,
    min: [f32; 3],
    max: [f32; 3],
}

struct Boxes<'a> {
    name: &'a str,
    kinds: Vec<&'a str>,
    all: Vec<Drawn<'a>>,
    damage: Vec<Error>,
}

/// The kind of a box: its name without the numbers at its end.
fn kind_of(name: &str) -> &str {
    let kind = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    if kind.is_empty() { name } else { kind }
}

impl<'a> Boxes<'a> {
    fn read(splash: &'a Splash) -> Result<Self> {
        let (mut all, mut damage) = (Vec::new(), Vec::new());
        for found in splash.boxes()? {
            match found {
                Ok(found) if found.min.iter().chain(&found.max).all(|c| c.is_finite()) => all.push(found),
                Ok(SplashBox { name, .. }) => {
                    damage.push(Error::of_part(ErrorKind::damaged("a corner is not a number"), name.to_owned()));
                }
                Err(error) => damage.push(error),
            }
        }
        let kinds: BTreeMap<&str, ()> = all.iter().map(|found| (kind_of(found.name), ())).collect();
        let kinds: Vec<&str> = kinds.into_keys().collect();
        let drawn = all.into_iter().map(|found| {
            // The file's space is left-handed.
            let [mut min, mut max] = [found.min, found.max].map(|[x, y, z]| [-x + 0.0, y, z]);
            for (min, max) in min.iter_mut().zip(&mut max) {
                (*min, *max) = (min.min(*max), min.max(*max));
            }
            let material = kinds.binary_search(&kind_of(found.name)).expect("the kinds are of these boxes");
            Drawn { name: found.name, material, min, max }
        });
        Ok(Self { name: splash.source().stem(), all: drawn.collect(), kinds, damage })
    }

    /// The kinds of boxes with their colours.
    fn tints(&self) -> impl Iterator<Item = (&'a str, [f32; 3])> {
        self.kinds.iter().enumerate().map(|(rank, name)| (*name, scene::colour(rank, self.kinds.len())))
    }

    fn as_figure(&self) -> Figure<'_> {
        let materials = self.tints().map(|(name, [r, g, b])| {
            let colour = [r, g, b, 1.0];
            SolidMaterial { name, colour, two_sided: false, image: None, maps: SurfaceMaps::default() }
        });
        Figure::Solids(Solids {
            armor: Vec::new(),
            name: self.name,
            files: Vec::new(),
            arrangement: Arrangement::default(),
            materials: materials.collect(),
            solids: self
                .all
                .iter()
                .map(|drawn| PaintedSolid { solid: drawn, material: drawn.material, rig: None })
                .collect(),
            places: (0..self.all.len())
                .map(|solid| SolidInstance { solid, group: "", matrix: None, row: None })
                .collect(),
            rigs: Vec::new(),
            metres: Some(METRES),
            axes: AXES,
            notes: Cow::default(),
            damage: self.damage.as_slice().into(),
        })
    }
}

impl<'a> Drawing for Boxes<'a> {
    fn damage(&self) -> &[Error] {
        &self.damage
    }

    fn figure(&self) -> Result<Option<Figure<'_>>> {
        Ok((!self.all.is_empty()).then(|| self.as_figure()))
    }

    fn write(&self, kind: SceneFormat, out: &mut dyn Write) -> Result<Vec<String>> {
        if kind != SceneFormat::Glb {
            return Err(no_such_kind(kind));
        }
        boxes::write(self.name, self.tints(), self.all.iter().map(Drawn::as_glb_box), out)?;
        Ok(Vec::new())
    }
}

impl Scene<'_> {
    /// Adds the boxes of `splash` as a scene of a GLB.
    ///
    /// # Errors
    /// If the number of boxes cannot be read.
    pub(in crate::geometry) fn add_splash(&mut self, splash: &Splash) -> Result<()> {
        let boxes = Boxes::read(splash)?;
        self.damage.extend(boxes.damage.iter().map(|error| error.clone().context(HIT_BOXES)));
        if !boxes.all.is_empty() {
            self.add_boxes(HIT_BOXES, boxes.tints(), boxes.all.iter().map(Drawn::as_glb_box));
        }
        Ok(())
    }
}

impl<'a> Drawn<'a> {
    fn as_glb_box(&self) -> GlbBox<'a> {
        let [min, max] = [self.min, self.max].map(|corner| corner.map(f64::from));
        let [[x, p], [y, q], [z, r]] =
            [0, 1, 2].map(|axis| [(min[axis] + max[axis]) / 2.0, (max[axis] - min[axis]) / 2.0]);
        // These are mirrored already.
        let (center, sides) = ([-x, y, z], [[p, 0.0, 0.0], [0.0, q, 0.0], [0.0, 0.0, r]]);
        GlbBox { name: self.name, material: self.material, center, sides }
    }
}

impl Solid for Drawn<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> SolidKind {
        SolidKind::Zone
    }

    fn bounds(&self) -> ([f32; 3], [f32; 3]) {
        (self.min, self.max)
    }

    fn vertices(&self) -> usize {
        cube::corners().count()
    }

    fn positions(&self) -> Iter<'_, [f32; 3]> {
        Box::new(
            cube::corners().map(|(corner, _)| {
                [0, 1, 2].map(|axis| if corner[axis] < 0.0 { self.min[axis] } else { self.max[axis] })
            }),
        )
    }

    fn normals(&self) -> Option<Iter<'_, [f32; 3]>> {
        Some(Box::new(cube::corners().map(|(_, normal)| normal)))
    }

    fn indices(&self) -> Option<Iter<'_, [u32; 3]>> {
        Some(Box::new(cube::triangles()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_turn_left_around_their_normals() {
        let drawn = Drawn { name: "", material: 0, min: [-1.0, -2.0, -3.0], max: [1.0, 2.0, 3.0] };
        let positions: Vec<[f32; 3]> = drawn.positions().collect();
        let normals: Vec<[f32; 3]> = drawn.normals().unwrap().collect();
        assert_eq!((positions.len(), normals.len(), drawn.triangles().count()), (24, 24, 12));
        for corners in drawn.triangles() {
            let ([a, b, c], normal) = (corners.map(|n| positions[n as usize]), &normals[corners[0] as usize]);
            let minus = |p: [f32; 3], q: [f32; 3]| [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
            let ([x, y, z], [u, v, w]) = (minus(b, a), minus(c, a));
            let turn = [y * w - z * v, z * u - x * w, x * v - y * u];
            assert!(turn.iter().zip(normal).map(|(t, n)| t * n).sum::<f32>() > 0.0, "{a:?} {b:?} {c:?} {normal:?}");
            // And lies on the side that it looks to.
            assert!(a.iter().zip(normal).map(|(a, n)| a * n).sum::<f32>() > 0.0);
        }
    }

    #[test]
    fn boxes_are_of_a_kind_by_their_names() {
        assert_eq!(
            ["CM_SB_bow_1", "CM_SB_cit_ammo_2_13", "CM_SB_AA", "12"].map(kind_of),
            ["CM_SB_bow", "CM_SB_cit_ammo", "CM_SB_AA", "12"]
        );
    }
}
