//! `.vrb` archives as whole files: generated, hostile and, if present, real ones.

#[cfg(feature = "cli")]
mod command;
mod edit;
mod generated;
mod hostile;
mod real;

use assetq::formats::report::{Progress, Report};
use assetq::formats::vrage::vrb::{MAIN, ModelId, Options, Path, TypeId, VrbArchive};
use assetq::formats::{ErrorKind, Reader};
use assetq::table::{Guid, Tree, Value};
use assetq::{Asset, Error, Result, Source};
use assetq_sample::Size;
use assetq_sample::vrb::builtin::{BOOLEAN, BYTE, GUID, INT32, LIST, NULLABLE, STRING, TYPE};
use assetq_sample::vrb::{
    ArchiveBuilder, Codec, TypesBuilder, ValuesBuilder, bombs, demo, entities, flags, member, mesh, placed,
    polymorphic, seal, world, world_values,
};

const TYPE_ENTRY: usize = 52;
const MAIN_ENTRY: usize = 132;

fn open(bytes: &[u8]) -> Result<VrbArchive> {
    VrbArchive::open(Source::from_vec("test.vrb", bytes.to_vec()))
}

fn cat(archive: &VrbArchive, entry: &str) -> Result<Option<Value<'static>>> {
    let mut tree = Tree::default();
    Ok(archive.cat(entry, &mut tree)?.then(|| tree.into_value()))
}

fn verify(bytes: &[u8]) -> Report {
    open(bytes).unwrap().verify(&Progress::default())
}

fn findings(report: &Report) -> Vec<String> {
    report.checks.iter().flat_map(|c| c.findings().iter().map(move |e| format!("{}: {e}", c.name))).collect()
}

fn assert_ok(bytes: &[u8]) {
    assert_eq!(findings(&verify(bytes)), Vec::<String>::new());
}

/// Everything that can be asked of an archive; errors are fine.
fn use_all(archive: &VrbArchive) {
    let _ = archive.verify(&Progress::default());
    let _ = (archive.sections(), archive.facts());
    let _ = cat(archive, MAIN);
    for table in archive.tables() {
        let mut rows = table.cursor(0);
        while let Ok(true) = rows.advance() {
            (0..table.columns().len()).for_each(|c| drop(rows.value(c)));
        }
        let _ = table.len();
    }
}

/// The smallest archive whose main chunk holds one value of a model.
fn archive_of(types: &TypesBuilder, root: ModelId, data: &[u8]) -> Vec<u8> {
    ArchiveBuilder::new(types, root, Codec::None, data.to_vec()).build()
}

/// The error of reading that value, with the raw chunk still there.
fn refusal(types: &TypesBuilder, root: ModelId, data: &[u8]) -> Error {
    let archive = open(&archive_of(types, root, data)).unwrap();
    assert!(archive.main().data().unwrap().bytes() == data, "the raw chunk stays readable");
    let error = cat(&archive, MAIN).expect_err("must be refused");
    assert!(!archive.verify(&Progress::default()).is_ok(), "{error}");
    error
}

/// A class with one member.
fn holder(types: &mut TypesBuilder, value: ModelId) -> ModelId {
    let ty = types.named(0, 0, "Test:Holder");
    types.composite(ty, flags::CLASS, 0, &[member("Value", value)])
}
