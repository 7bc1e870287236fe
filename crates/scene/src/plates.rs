//! Thickness of the plates of solids, in millimetres by layer and material.

#![allow(clippy::indexing_slicing, reason = "numbers of shapes in memory")]

#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PlateUse {
    pub ship: Option<String>,
    /// The entity that states the thickness: the ship, or a gun that is on no ship.
    pub entity: String,
    /// The component of the ship, as in `A_Hull`.
    pub component: Option<String>,
    /// The mounts of the component, as in `HP_AGM_1`; none for a hull.
    pub mounts: Vec<String>,
    /// Millimetres by layer and material, in order.
    plates: Vec<((u16, u16), f64)>,
}

impl PlateUse {
    /// A use by `entity`, with millimetres by layer and material. The first of several for one plate counts.
    pub fn new(entity: impl Into<String>, mut plates: Vec<((u16, u16), f64)>) -> Self {
        plates.sort_by_key(|(plate, _)| *plate);
        plates.dedup_by_key(|(plate, _)| *plate);
        Self { entity: entity.into(), plates, ..Self::default() }
    }

    /// The ship or gun, its component and mounts: what is made of the plates.
    pub fn user(&self) -> (Option<&str>, &str, Option<&str>, &[String]) {
        (self.ship.as_deref(), &self.entity, self.component.as_deref(), &self.mounts)
    }

    /// The entity and its component, as in `PASB018_Iowa A_Hull`.
    pub fn label(&self) -> String {
        match &self.component {
            Some(component) => format!("{} {component}", self.entity),
            None => self.entity.clone(),
        }
    }

    /// Layer and material of all plates with a stated thickness, in order, and their millimetres.
    pub fn plates(&self) -> impl Iterator<Item = ((u16, u16), f64)> {
        self.plates.iter().copied()
    }

    /// The millimetres of the plates of this layer and material; `None` where none are stated. 0 is a stated value.
    pub fn thickness(&self, layer: u16, material: u16) -> Option<f64> {
        let at = self.plates.binary_search_by_key(&(layer, material), |(plate, _)| *plate).ok()?;
        Some(self.plates[at].1)
    }

    /// Whether both state the same for all plates.
    pub fn is_like(&self, other: &Self) -> bool {
        self.plates == other.plates
    }
}

/// The colours of the game's own view of armour, each with its upper bound in millimetres. The last one counts beyond, too.
pub const SCALE: [(f64, [u8; 3]); 10] = [
    (14.0, [0x6E, 0xD1, 0xB0]),
    (16.0, [0x95, 0xD2, 0x7F]),
    (24.0, [0xAA, 0xC9, 0x66]),
    (26.0, [0xC0, 0xC1, 0x50]),
    (28.0, [0xE2, 0xC3, 0x3E]),
    (33.0, [0xE1, 0xAB, 0x36]),
    (75.0, [0xE3, 0x90, 0x31]),
    (160.0, [0xE6, 0x73, 0x31]),
    (399.0, [0xDC, 0x4E, 0x30]),
    (999.0, [0xB9, 0x2F, 0x30]),
];

/// The name and the colour of the band of [`SCALE`] for a plate of this thickness in millimetres.
pub fn band(thickness: f64) -> (String, [u8; 3]) {
    let (mut from, [.., (_, beyond)]) = (0.0, SCALE);
    for (up_to, colour) in SCALE {
        if thickness <= up_to {
            return (format!("{from}-{up_to} mm"), colour);
        }
        from = up_to;
    }
    (format!("more than {from} mm"), beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thickness_is_found_by_layer_and_material() {
        let armor = PlateUse::new("PASB018_Iowa", vec![((2, 56), 0.0), ((1, 47), 20.0), ((1, 47), 30.0)]);
        assert_eq!(armor.thickness(1, 47), Some(20.0));
        assert_eq!(armor.thickness(2, 56), Some(0.0));
        assert_eq!(armor.thickness(1, 56), None);
    }

    #[test]
    fn colours_change_behind_their_bounds() {
        assert_eq!(band(0.0), ("0-14 mm".to_owned(), SCALE[0].1));
        assert_eq!(band(14.0), ("0-14 mm".to_owned(), SCALE[0].1));
        assert_eq!(band(14.1), ("14-16 mm".to_owned(), SCALE[1].1));
        assert_eq!(band(999.0), ("399-999 mm".to_owned(), SCALE[9].1));
        assert_eq!(band(2000.0), ("more than 999 mm".to_owned(), SCALE[9].1));
    }
}
