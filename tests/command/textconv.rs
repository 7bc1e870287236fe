//! Game files and their differences as text, for git and for people who read on elsewhere.

use crate::common::run;
use assetq_sample::wdb::{Cell, Game, Sheet};
use assetq_sample::{FILES, Size};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn text(dir: &Path, file: &str) -> String {
    let out = Command::new(crate::common::program()).current_dir(dir).args(["textconv", file]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// A sheet of monsters with their hit points.
fn monsters(rows: &[(&str, i64)]) -> Vec<u8> {
    let mut sheet = Sheet::new(Game::Later, "Monsters").fields(["sName", "u16HitPoints"]);
    for (name, points) in rows {
        sheet = sheet.record(name, [Cell::from(*name), (*points).into()]);
    }
    sheet.build()
}

#[test]
fn a_row_is_its_key_and_a_line_for_each_cell() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.wdb"), monsters(&[("golem", 400), ("bat", 3)])).unwrap();
    let text = text(dir.path(), "a.wdb");
    let rows = "[records]\nbat\n\tsName: bat\n\tu16HitPoints: 3\ngolem\n\tsName: golem\n\tu16HitPoints: 400\n\n";
    assert!(text.starts_with("format: wdb\n") && text.contains(rows), "{text}");
}

#[test]
fn every_format_is_the_same_text_each_time() {
    let dir = TempDir::new().unwrap();
    for (name, _, make) in FILES {
        fs::write(dir.path().join(name), make(1, Size::Small)).unwrap();
        let first = text(dir.path(), name);
        assert!(first.lines().count() > 5 && first == text(dir.path(), name), "{name}");
        assert!(first.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')), "{name}");
    }
}

/// As many rows as several threads make into text at once.
#[test]
fn rows_come_in_the_order_of_their_keys_however_they_lie() {
    let dir = TempDir::new().unwrap();
    let names: Vec<String> = (0..3000).map(|n| format!("m{:04}", n * 7 % 3000)).collect();
    let rows: Vec<(&str, i64)> = names.iter().map(|name| (&**name, 1)).collect();
    fs::write(dir.path().join("a.wdb"), monsters(&rows)).unwrap();
    let text = text(dir.path(), "a.wdb");
    let keys: Vec<&str> = text.lines().filter(|line| line.starts_with('m')).collect();
    assert!(keys.len() == 3000 && keys.is_sorted(), "{}", keys.len());
}

/// The parts of a record are by number, not by the digits of it, and the text of a hash stands for it.
#[test]
fn parts_of_records_are_in_their_order_and_named() {
    let dir = TempDir::new().unwrap();
    let (name, _, make) = FILES.iter().find(|(name, ..)| *name == "assets.bin").unwrap();
    fs::write(dir.path().join(name), make(1, Size::Small)).unwrap();
    let text = text(dir.path(), name);
    let nodes = text.split("\n[skeleton_nodes]\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let keys: Vec<(&str, u64)> = nodes
        .lines()
        .filter(|line| !line.starts_with('\t'))
        .map(|line| line.rsplit_once("  ").unwrap())
        .map(|(path, index)| (path, index.parse().unwrap()))
        .collect();
    assert!(keys.is_sorted() && keys.iter().any(|(_, index)| *index >= 10), "{keys:?}");
    assert!(nodes.contains("\tname: ") && !nodes.contains("name_id"), "{nodes}");
    assert!(text.contains(".visual  0\n\tname: ") && !text.contains("nodes[0].id"), "{text}");
}

#[test]
fn a_difference_as_markdown_is_read_as_it_is_meant() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("old.wdb"), monsters(&[("bat", 3), ("golem", 400)])).unwrap();
    let many: Vec<String> = (0..30).map(|n| format!("m{n:02}`*_")).collect();
    let rows: Vec<(&str, i64)> = [("golem", 450)].into_iter().chain(many.iter().map(|name| (&**name, 1))).collect();
    fs::write(dir.path().join("new.wdb"), monsters(&rows)).unwrap();
    let run =
        |args: &[&str]| Command::new(crate::common::program()).current_dir(dir.path()).args(args).output().unwrap();
    let out = run(&["diff", "old.wdb", "new.wdb", "-f", "markdown"]);
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("## `records`\n"), "{text}");
    // A long list is folded up, a short one is not.
    assert!(text.contains("<details><summary>30 added</summary>\n\n- ``m00`*_``\n"), "{text}");
    assert!(text.contains("\n**1 removed**\n\n- `bat`\n"), "{text}");
    assert!(text.contains("- `golem`\n  - `u16HitPoints`: `400` → `450` (+50)\n"), "{text}");
    assert_eq!(run(&["ls", "old.wdb", "-f", "markdown"]).status.code(), Some(2));
}

/// Whatever a file says is data of the page, and its policy forbids all but its own script and style.
#[test]
fn a_difference_as_a_page_has_texts_as_data() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("old.wdb"), monsters(&[("bat", 3), ("golem", 400)])).unwrap();
    // No name of a file on Windows has a `<`.
    let (name, shown) = if cfg!(windows) { ("&b.wdb", "&amp;b.wdb") } else { ("<b>.wdb", "&lt;b&gt;.wdb") };
    fs::write(dir.path().join(name), monsters(&[("golem", 450), ("<script>&\"'\u{202e}", 1)])).unwrap();
    let run =
        |args: &[&str]| Command::new(crate::common::program()).current_dir(dir.path()).args(args).output().unwrap();
    let out = run(&["diff", "old.wdb", name, "-f", "html"]);
    assert_eq!(out.status.code(), Some(1));
    let page = String::from_utf8(out.stdout).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"), "{page}");
    assert!(page.contains("content=\"default-src 'none'; script-src 'sha256-"), "{page}");
    assert!(page.contains(&format!("<title>old.wdb → {shown}</title>")) && !page.contains("<b>"), "{page}");
    assert!(page.contains(r#""counts":[1,1,1]"#) && !page.contains("golem"), "{page}");
    let same = run(&["diff", "old.wdb", "old.wdb", "-f", "html"]);
    assert!(same.status.success() && String::from_utf8(same.stdout).unwrap().contains("no differences"));
    assert_eq!(run(&["ls", "old.wdb", "-f", "html"]).status.code(), Some(2));
}

/// A pointer of Git LFS, as git hands it over in place of the file.
const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:00ff\nsize 170699420\n";

#[test]
fn what_is_no_asset_is_one_line() {
    let dir = TempDir::new().unwrap();
    let sheet = monsters(&[("bat", 3)]);
    let cases: [(&str, &[u8], &str); 4] = [
        ("pointer.wdb", POINTER.as_bytes(), "a Git LFS pointer: 170699420 bytes, sha256:00ff\n"),
        ("ship.geometry", POINTER.as_bytes(), "a Git LFS pointer: 170699420 bytes, sha256:00ff\n"),
        ("empty.bin", b"", "not an asset: 0 bytes, sha256:e3b0c442"),
        ("cut.wdb", &sheet[..sheet.len() / 2], "not an asset: "),
    ];
    for (name, bytes, expected) in cases {
        fs::write(dir.path().join(name), bytes).unwrap();
        let text = text(dir.path(), name);
        assert!(text.starts_with(expected) && text.lines().count() == 1, "{name}: {text}");
    }
    run(dir.path(), 4, &["textconv", "missing.bin"]);
    let (_, said) = run(dir.path(), 3, &["info", "ship.geometry"]);
    assert_eq!(said, "assetq: ship.geometry: a Git LFS pointer: 170699420 bytes, sha256:00ff\n");
}

#[test]
fn a_damaged_file_is_text_that_states_its_damage() {
    let dir = TempDir::new().unwrap();
    let bytes = assetq_sample::text_models::demo_visual(1, Size::Small);
    fs::write(dir.path().join("cut.visual"), &bytes[..bytes.len() / 2]).unwrap();
    let text = text(dir.path(), "cut.visual");
    assert!(text.starts_with("format: visual\n") && text.contains("rows: damaged: text: line "), "{text}");
}

/// Git writes one of two versions to a folder of its own, where nothing lies beside it.
#[test]
fn text_depends_on_the_bytes_alone() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("alone")).unwrap();
    fs::write(dir.path().join("turret.visual"), assetq_sample::text_models::demo_visual(1, Size::Small)).unwrap();
    for name in ["turret.geometry", "alone/turret.geometry"] {
        fs::write(dir.path().join(name), assetq_sample::geometry::demo(1, Size::Small)).unwrap();
    }
    assert!(text(dir.path(), "turret.geometry") == text(dir.path(), "alone/turret.geometry"));
}

#[test]
fn git_shows_what_changed_in_a_sheet() {
    let dir = TempDir::new().unwrap();
    let git = |args: &[&str]| {
        let out = Command::new("git")
            .current_dir(dir.path())
            .args(["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"])
            .args(args)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", dir.path())
            .output();
        out.map(|out| (out.status.success(), String::from_utf8(out.stdout).unwrap()))
    };
    if git(&["init", "-q"]).is_err() {
        return eprintln!("skipped: there is no git");
    }
    let git = |args: &[&str]| {
        let (ok, out) = git(args).unwrap();
        assert!(ok, "git {args:?}: {out}");
        out
    };
    git(&["config", "diff.assetq.textconv", &format!("\"{}\" textconv", crate::common::program())]);
    fs::write(dir.path().join(".gitattributes"), "*.wdb diff=assetq\n").unwrap();
    for rows in [&[("bat", 3), ("golem", 400)][..], &[("bat", 3), ("golem", 450), ("wolf", 20)]] {
        fs::write(dir.path().join("monsters.wdb"), monsters(rows)).unwrap();
        git(&["add", "."]);
        git(&["commit", "-qm", "a build"]);
    }
    let log = git(&["log", "-p", "-1", "--", "monsters.wdb"]);
    for version in [POINTER.as_bytes(), b"", b"half a sheet"] {
        fs::write(dir.path().join("monsters.wdb"), version).unwrap();
        git(&["commit", "-qam", "a build that is not fetched"]);
    }
    let all = git(&["log", "-p", "--", "monsters.wdb"]);
    assert!(all.contains("+a Git LFS pointer: 170699420 bytes") && all.contains("-not an asset: 0 bytes"), "{all}");
    assert!(log.contains("-\tu16HitPoints: 400\n+\tu16HitPoints: 450\n+wolf\n+\tsName: wolf\n"), "{log}");
    assert!(!log.contains("Binary files"), "{log}");
}
