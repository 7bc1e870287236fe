//! Field names of sheets that carry none: the first game's (docs/formats/wdb.md §3).

use crate::bytes::without_bom;
use crate::error::{Error, ErrorKind, Result};
use std::sync::{Arc, LazyLock};

/// Lists of field names by file stem. The built-in ones are in `known_fields.txt`; people add to them.
#[derive(Debug, Clone, Default)]
pub struct KnownFields {
    lists: Vec<SheetFields>,
}

/// The presumed field names of one sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetFields {
    /// File names without `.wdb`; `#` matches one digit.
    pub stems: Vec<String>,
    pub note: Option<String>,
    pub fields: Vec<String>,
}

/// More names than this are not a list of a record's fields.
pub(super) const MAX_FIELDS: usize = 1 << 16;

static BUILTIN: LazyLock<Arc<KnownFields>> = LazyLock::new(|| {
    let known = KnownFields::parse(include_str!("known_fields.txt"), "known fields");
    Arc::new(known.expect("a test reads the lists of this crate"))
});

impl KnownFields {
    /// The lists of this crate.
    pub fn builtin() -> Arc<Self> {
        Arc::clone(&BUILTIN)
    }

    /// Reads lists from `text`, in the form that `known_fields.txt` describes at its beginning. `name` is what errors
    /// call it.
    ///
    /// # Errors
    /// `Damaged` with the line: a field or note outside of a list, a list without stems, a field name with blanks.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let mut lists: Vec<SheetFields> = Vec::new();
        for (number, line) in (1u64..).zip(without_bom(text).lines()) {
            read_line(&mut lists, line.trim()).map_err(|what| {
                Error::of_part(ErrorKind::damaged(format!("line {number}: {what}")), name.to_owned())
            })?;
        }
        Ok(Self { lists })
    }

    /// Adds the lists of `more` before these lists.
    #[must_use]
    pub fn extended(&self, more: Self) -> Self {
        let mut lists = more.lists;
        lists.extend(self.lists.iter().cloned());
        Self { lists }
    }

    /// All lists, in the order in which they are tried.
    pub fn lists(&self) -> &[SheetFields] {
        &self.lists
    }

    /// The lists for a sheet with the file stem `stem`, in the order of preference.
    pub fn lists_for<'a>(&'a self, stem: &'a str) -> impl Iterator<Item = &'a SheetFields> {
        self.lists.iter().filter(move |list| list.stems.iter().any(|pattern| stem_matches(pattern, stem)))
    }
}

/// Reads a line of a file of lists; the error says what is wrong with it.
fn read_line(lists: &mut Vec<SheetFields>, line: &str) -> Result<(), &'static str> {
    if line.is_empty() || line.starts_with('#') {
        return Ok(());
    }
    if let Some(stems) = line.strip_prefix('[') {
        let stems = stems.strip_suffix(']').ok_or("a list begins with [stem stem ...]")?;
        let stems: Vec<_> = stems.split_whitespace().map(str::to_lowercase).collect();
        if stems.is_empty() {
            return Err("a list without stems");
        }
        lists.push(SheetFields { stems, note: None, fields: Vec::new() });
        return Ok(());
    }
    let list = lists.last_mut().ok_or("a field before the first [stem ...]")?;
    if let Some(note) = line.strip_prefix("note:") {
        list.note = Some(note.trim().to_owned());
    } else if line.contains(char::is_whitespace) {
        return Err("a field name with blanks");
    } else if list.fields.len() >= MAX_FIELDS {
        return Err("too many fields");
    } else {
        list.fields.push(line.to_owned());
    }
    Ok(())
}

/// `pattern` is in lower case; the case of `stem` does not matter.
fn stem_matches(pattern: &str, stem: &str) -> bool {
    pattern.len() == stem.len()
        && pattern.bytes().zip(stem.bytes()).all(|(p, s)| match p {
            b'#' => s.is_ascii_digit(),
            p => p == s.to_ascii_lowercase(),
        })
}

/// The stem by which lists are chosen: the last part of a path or of `pack:entry`, without `.wdb`.
pub(super) fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\', ':']).next().unwrap_or(name);
    match file.len().checked_sub(4).map(|at| (file.get(..at), file.get(at..))) {
        Some((Some(stem), Some(ending))) if ending.eq_ignore_ascii_case(".wdb") => stem,
        _ => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_found_in_paths_and_packs() {
        assert_eq!(stem("db/resident/movie_items.win32.wdb"), "movie_items.win32");
        assert_eq!(stem("C:\\game\\Z003.WDB"), "Z003");
        assert_eq!(stem("db/wdbpack.bin:item.wdb"), "item");
        assert_eq!(stem("item"), "item");
        assert_eq!(stem("wdb"), "wdb");
    }

    #[test]
    fn digits_stand_in_for_the_pattern() {
        let known = KnownFields::builtin();
        for (stem, lists) in [
            ("z003", 1),
            ("Z255", 1),
            ("z03", 0),
            ("script", 1),
            ("script00012", 1),
            ("script0001x", 0),
            ("bt_summon", 2),
        ] {
            assert_eq!(known.lists_for(stem).count(), lists, "{stem}");
        }
    }

    #[test]
    fn added_lists_come_first() {
        let more = KnownFields::parse("[item]\nnote: mine\nsName\nu16A\n", "mine.txt").unwrap();
        let known = KnownFields::builtin().extended(more);
        let lists: Vec<_> = known.lists_for("item").collect();
        assert_eq!(lists.len(), 2);
        assert_eq!((lists[0].note.as_deref(), lists[0].fields.len()), (Some("mine"), 2));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, wrong) in [
            ("sName\n", "line 1: a field before"),
            ("[]\n", "line 1: a list without stems"),
            ("# c\n[item\n", "line 2: a list begins"),
            ("[item]\nu8 Name\n", "line 2: a field name with blanks"),
        ] {
            let error = KnownFields::parse(text, "mine.txt").unwrap_err().to_string();
            assert!(error.starts_with("mine.txt: ") && error.contains(wrong), "{error}");
        }
    }

    /// Sheet by sheet as in docs/formats/wdb.md §3: fields, bytes of a record, and the word kinds that the names imply.
    #[test]
    fn the_lists_imply_the_word_kinds_of_the_document() {
        let of = |kind: &str, times: usize| kind.repeat(times);
        let expected = [
            ("auto_clip", 8, 24, "222220".to_owned()),
            ("white", 6, 24, "132111".into()),
            ("sound_fileid_dic_us", 2, 4, "0".into()),
            ("sound_filename_dic", 1, 4, "2".into()),
            ("treasurebox", 3, 12, "232".into()),
            ("movie_items.x360", 4, 16, "2333".into()),
            ("movie_items_us.ps3", 3, 16, "23U".into()),
            ("zonelist", 19, 20, "13000".into()),
            ("monster_book", 4, 4, "0".into()),
            ("z017", 3, 12, "322".into()),
            ("savepoint", 4, 12, "200".into()),
            ("script00210", 11, 44, "22333333222".into()),
            ("bt_chainbonus", 10, 12, "000".into()),
            ("bt_chara_prop", 9, 16, "2200".into()),
            ("bt_constants", 3, 12, "312".into()),
            ("item", 21, 36, "222330000".into()),
            ("item_consume", 5, 12, "220".into()),
            ("special_ability", 3, 8, "20".into()),
            ("item_weapon", 51, 104, "22222223322222".to_owned() + &of("0", 12)),
            ("party", 28, 92, of("2", 18) + "11100"),
            ("succession", 18, 12, "000".into()),
            ("bt_summon", 59, 168, "3222222".to_owned() + "2" + &of("3", 17) + &of("0", 17)),
            ("bt_summon", 58, 164, "3222222".to_owned() + &of("3", 17) + &of("0", 17)),
            ("crystal_vanille", 6, 12, "320".into()),
            ("movie", 2, 8, "22".into()),
            ("actioneffect", 3, 12, "232".into()),
            ("attreffect", 54, 216, of("2", 54)),
            ("attreffectstate", 9, 36, of("2", 9)),
            (
                "bt_ability",
                114,
                288,
                of("2", 6) + &of("1", 7) + &of("2", 5) + "3" + &of("2", 21) + &of("322", 5) + "32" + &of("0", 15),
            ),
            ("mapset", 40, 72, "33222".to_owned() + &of("0", 13)),
            ("emotion_voice", 20, 12, "000".into()),
            ("eventflag", 1, 4, "3".into()),
            ("shop", 40, 156, of("2", 38) + "0"),
            ("bt_auto_ability", 19, 40, "2222200000".into()),
            ("charaset", 72, 268, "33".to_owned() + &of("2", 64) + "0"),
            ("mission", 27, 84, of("2", 19) + "30"),
            ("fieldcamera", 47, 156, of("1", 29) + &of("0", 10)),
            ("fieldcamera", 47, 152, of("1", 29) + &of("0", 9)),
        ];
        for (stem, fields, record, kinds) in expected {
            let implied: Vec<_> =
                KnownFields::builtin().lists_for(stem).map(|list| (list.fields.len(), implied(list))).collect();
            let size: usize = kinds.chars().map(|k| if k == 'U' { 8 } else { 4 }).sum();
            assert_eq!(size, record, "{stem}: {kinds}");
            assert!(implied.contains(&(fields, kinds)), "{stem}: {implied:?}");
        }
        assert_eq!(KnownFields::builtin().lists().len(), 38);
    }

    /// The word kinds that names imply, worked out without the reader's own code.
    fn implied(list: &SheetFields) -> String {
        let (mut kinds, mut left) = (String::new(), 0);
        for name in &list.fields {
            let digits: String = name[1..].chars().take(2).take_while(char::is_ascii_digit).collect();
            match digits.parse::<u32>() {
                Ok(64) => kinds.push('U'),
                Ok(bits) if bits <= left => left -= bits,
                Ok(bits) => {
                    kinds.push('0');
                    left = 32 - bits;
                }
                Err(_) => {
                    kinds.push(match &name[..1] {
                        "f" => '1',
                        "s" => '2',
                        _ => '3',
                    });
                    left = 0;
                }
            }
        }
        kinds
    }
}
