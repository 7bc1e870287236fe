//! Real files, where `ASSETQ_SAMPLES` names a folder of them.

use super::*;
use crate::common::files_in;
use assetq::formats::reader::Graphs as _;
use std::path::PathBuf;

fn samples() -> Vec<PathBuf> {
    let mut files = files_in("vrb");
    files.retain(|file| file.extension().is_some_and(|ending| ending == "vrb"));
    files
}

#[test]
fn all_verify_and_use_up_every_byte() {
    for path in samples() {
        let archive = VrbArchive::open(Source::open(&path).unwrap()).unwrap();
        let report = archive.verify(&Progress::default());
        assert_eq!(findings(&report), Vec::<String>::new(), "{}", path.display());
        let root = archive.main().root().unwrap();
        let length = archive.main().data().unwrap().bytes().len();
        assert_eq!(root.end().unwrap(), length);
        assert_eq!(root.visit(&mut Tree::default()).unwrap().0, length);
        assert!(cat(&archive, MAIN).unwrap().is_some());
        assert_eq!(archive.warnings(), Vec::<String>::new());
        assert!(archive.table("values").unwrap().len().unwrap() > 30);
    }
}

#[test]
fn the_path_of_a_definition() {
    let Some(path) = samples().into_iter().find(|p| p.ends_with("definitionsets.vrb")) else { return };
    let archive = VrbArchive::open(Source::open(path).unwrap()).unwrap();
    let get = |path: &str| cat(&archive, path).unwrap().unwrap();
    let guid = "318942e2-62c7-461c-9bf3-0687a49ec851";
    assert_eq!(get("DefinitionSets.World._definitions[3].Guid").to_string(), guid);
    assert_eq!(get("DefinitionSets.World._definitions[0].PartialDefinitions[0]").to_string(), guid);
    assert_eq!(get(&format!("DefinitionSets.World._definitions[\"{guid}\"].PartialKind")), Value::Int(2));
    let key = get("DefinitionSets.World._definitions[3]#key");
    assert!(matches!(key, Value::Guid(Guid([0xE2, 0x42, 0x89, 0x31, ..]))));
}

/// A flush before the end leaves an empty meta-block, in the game's streams and in the builder's.
#[test]
fn streams_end_as_the_builder_ends_them() {
    for path in samples() {
        let archive = VrbArchive::open(Source::open(&path).unwrap()).unwrap();
        for part in archive.tables_of_contents().into_iter().take(2) {
            let decoded = part.decode(archive.source(), &Options::default().limits).unwrap();
            let (ours, theirs) = (Codec::Brotli.encode(decoded.bytes()), part.stored(archive.source()).unwrap());
            assert_eq!((ours.last(), theirs.bytes().last()), (Some(&3), Some(&3)), "{}", path.display());
        }
    }
}

#[test]
fn every_flip_of_a_real_file_is_found() {
    let mut rng = fastrand::Rng::with_seed(8);
    for path in samples() {
        let bytes = std::fs::read(&path).unwrap();
        for _ in 0..300 {
            let mut damaged = bytes.clone();
            let at = rng.usize(..damaged.len());
            damaged[at] ^= rng.u8(1..);
            if let Ok(archive) = open(&damaged) {
                assert!(!archive.verify(&Progress::default()).is_ok(), "{} {at:#x}", path.display());
            }
        }
    }
}

/// Rebuilding every value of a real file from its type and the output of `cat` gives the same bytes. Unedited values are copied, so
/// the values are deleted first.
#[test]
fn values_made_anew_are_the_bytes_of_the_game() {
    use assetq::edit::{EntryEdit, Writable};
    let put = |bytes: &[u8], tree: &Value<'static>| match open(bytes).unwrap().entry(MAIN, tree).unwrap() {
        Some(EntryEdit::Pieces(pieces)) => pieces.bytes(bytes),
        other => panic!("{other:?}"),
    };
    for path in samples() {
        let bytes = std::fs::read(&path).unwrap();
        let archive = open(&bytes).unwrap();
        let data = archive.main().data().unwrap().bytes();
        let mut tree = Tree::default();
        assert!(archive.show_typed(MAIN, &mut tree).unwrap());
        let tree = tree.into_value();
        assert!(put(&bytes, &tree) == bytes, "{}: nothing was edited", path.display());
        let Value::Map(members) = &tree else { panic!("{tree}") };
        let emptied = members.iter().map(|(name, value)| match name.as_ref() {
            "$type" => (name.clone(), value.clone()),
            _ => (name.clone(), Value::Null),
        });
        let without = put(&bytes, &Value::Map(emptied.collect()));
        let emptied = open(&without).unwrap();
        assert!(emptied.main().data().unwrap().bytes().len() <= members.len());
        assert_eq!(findings(&emptied.verify(&Progress::default())), Vec::<String>::new());
        let filled = put(&without, &tree);
        let archive = open(&filled).unwrap();
        let new = archive.main().data().unwrap().bytes();
        let differs = new.iter().zip(data).position(|(new, old)| new != old);
        assert_eq!((differs, new.len()), (None, data.len()), "{}", path.display());
        assert_eq!(findings(&archive.verify(&Progress::default())), Vec::<String>::new());
    }
}
