//! Names of collision materials.

use std::ops::RangeInclusive;

/// The builds of World of Warships whose materials have these names, as far as known. The numbers of armour in version
/// 0.11.2 fit the names, which are of builds about the last one; the game numbered its materials differently once. The first
/// one is the oldest build after 0.11.2 whose number is known.
const BUILDS: RangeInclusive<u32> = 6_775_398..=13_015_811;

/// The builds whose materials have the names of [`material_name`], in words.
pub fn builds() -> String {
    format!("{} to {}", BUILDS.start(), BUILDS.end())
}

/// A warning that names may be wrong, for files of a build that the names are not of.
pub fn warning(build: Option<&str>) -> Option<String> {
    let build = build.filter(|build| build.parse().is_ok_and(|number| !BUILDS.contains(&number)))?;
    Some(format!("names of materials are of the builds {}, and may be wrong in build {build}: ids are right", builds()))
}

/// Number and name, a line each. The list changes between builds.
const NAMES: &str = include_str!("collision_materials.tsv");

/// The name of collision material `id` in the builds that the list is of. Outputs also show the id.
pub fn material_name(id: u16) -> Option<&'static str> {
    static NAMED: std::sync::LazyLock<Vec<&str>> = std::sync::LazyLock::new(|| {
        NAMES.lines().skip(1).filter_map(|line| line.split_once('\t')).map(|(_, name)| name).collect()
    });
    NAMED.get(usize::from(id)).copied()
}

/// The first words of materials' names, and the regions of a ship that they stand for.
const REGIONS: [(&str, &str); 10] = [
    ("Bow", "Bow"),
    ("Cas", "Casemate"),
    ("Cit", "Citadel"),
    ("Dual", "On two parts"),
    ("Rudder", "Rudder"),
    ("SSC", "Upper hull"),
    ("SS", "Superstructure"),
    ("St", "Stern"),
    ("Stern", "Stern"),
    ("Tur", "Turret"),
];

/// The region of a ship that plates of the material called `name` are in: `Cit_Belt` is in the citadel.
pub fn region(name: &str) -> &'static str {
    let found = REGIONS.iter().find(|(word, _)| {
        // A longer word differs from `word`, except for rudders and turrets: `RudderAft`, `TurretDown`.
        name.strip_prefix(word).is_some_and(|rest| {
            matches!(*word, "Rudder" | "Tur") || !rest.starts_with(|c: char| c.is_ascii_lowercase())
        })
    });
    found.map_or("Other", |(_, region)| region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn materials_are_in_regions() {
        let names = ["Cit_Belt", "SS_BridgeTop", "SSC_Deck", "St_Bottom", "RudderAft", "TurretDown", "Trans", "Stage"];
        let regions = ["Citadel", "Superstructure", "Upper hull", "Stern", "Rudder", "Turret", "Other", "Other"];
        assert_eq!(names.map(region), regions);
    }

    #[test]
    fn builds_that_the_names_are_not_of_are_warned_of() {
        for known in [None, Some("6775398"), Some("7100000"), Some("13015811"), Some("no number")] {
            assert_eq!(warning(known), None, "{known:?}");
        }
        for other in ["5000000", "13015812"] {
            assert!(warning(Some(other)).unwrap().ends_with(&format!("may be wrong in build {other}: ids are right")));
        }
    }

    #[test]
    fn lines_are_numbered_by_their_ids() {
        for (i, line) in NAMES.lines().skip(1).enumerate() {
            assert_eq!(line.split_once('\t').unwrap().0, i.to_string());
        }
        assert_eq!(material_name(0), Some("common"));
        assert_eq!(material_name(12), Some("Bottom"));
        assert_eq!(material_name(254), Some("Dual_Cit_SS_Deck"));
        assert_eq!(material_name(255), None);
    }
}
