//! The command line for archives.

use super::*;
use std::process::{Command, Output};

fn assetq(bytes: &[u8], arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.vrb");
    std::fs::write(&path, bytes).unwrap();
    let (command, rest) = arguments.split_first().unwrap();
    Command::new(env!("CARGO_BIN_EXE_assetq")).arg(command).arg(&path).args(rest).output().unwrap()
}

#[test]
fn raw_gives_the_decompressed_bytes_also_of_what_cannot_be_read() {
    let mut builder = ArchiveBuilder::new(&TypesBuilder::new(), ModelId(0x200), Codec::Zlib, vec![1, 2, 3]);
    builder.types = b"not a type table".to_vec();
    let bytes = builder.build();
    let raw = assetq(&bytes, &["cat", "--raw", MAIN]);
    assert_eq!((raw.status.code(), &raw.stdout[..]), (Some(0), &[1u8, 2, 3][..]));
    assert_eq!(assetq(&bytes, &["cat", MAIN]).status.code(), Some(3));
    assert_eq!(assetq(&bytes, &["cat", "--raw", "Nope"]).status.code(), Some(1));
}

#[test]
fn strict_refuses_what_is_a_warning_otherwise() {
    let world = world();
    let mut bytes = archive_of(&world.types, world.mesh, &mesh(1, 10));
    bytes[192 + 40] ^= 1;
    let warned = assetq(&bytes, &["cat", "Name", "-f", "json"]);
    assert_eq!((warned.status.code(), &warned.stdout[..]), (Some(0), &b"\"Hull\"\n"[..]));
    let message = String::from_utf8(warned.stderr).unwrap();
    assert!(message.contains("warning: chunk [Main]: XXH64 checksum") && message.lines().count() == 1, "{message}");
    let refused = assetq(&bytes, &["cat", "Name", "--strict"]);
    assert_eq!(refused.status.code(), Some(3));
    assert_eq!(refused.stdout, b"");
    assert_eq!(assetq(&bytes, &["verify"]).status.code(), Some(3));
}

#[test]
fn the_whole_graph_is_one_json_document() {
    let out = assetq(&demo(1, Size::Small), &["cat", MAIN, "-f", "json"]);
    assert_eq!(out.status.code(), Some(0));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(json["Sets"]["North.Pole"]["Y"], 2);
    assert_eq!(json["Bounds"]["Min"]["Z"], serde_json::Value::Null, "NaN");
    assert_eq!(json["ById"][0]["key"], json["ById"][0]["value"]["Guid"]);
    assert_eq!(json["Entities"].as_array().unwrap().len(), 12);
}

#[test]
fn a_chunk_is_listed_by_its_name() {
    let out = assetq(&demo(1, Size::Small), &["ls", MAIN, "-f", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((json[0]["name"].as_str(), json.as_array().unwrap().len()), (Some(MAIN), 1));
}
