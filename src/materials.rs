//! Names of collision materials.

/// Number and name, a line each. The list belongs to recent builds of the game and changes between builds.
const NAMES: &str = include_str!("collision_materials.tsv");

/// The name of collision material `id` in recent builds. Outputs also show the id.
pub fn material_name(id: u16) -> Option<&'static str> {
    static NAMED: std::sync::LazyLock<Vec<&str>> = std::sync::LazyLock::new(|| {
        NAMES.lines().skip(1).filter_map(|line| line.split_once('\t')).map(|(_, name)| name).collect()
    });
    NAMED.get(usize::from(id)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

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
