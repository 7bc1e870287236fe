//! The world of a sample: its files are sound and small, and fit together.

use crate::common::{run, writer};
use assetq_sample::{Size, WORLD};
use std::collections::BTreeMap;

/// The files of the whole world, by their paths.
fn files() -> BTreeMap<String, Vec<u8>> {
    let named = WORLD.files.iter().chain(WORLD.altered);
    let mut all: BTreeMap<_, _> = named.map(|(name, _, make)| ((*name).to_owned(), make(1, Size::Small))).collect();
    let mut put = |path: &str, bytes: &[u8]| {
        all.insert(path.to_owned(), bytes.to_vec());
        Ok(())
    };
    (WORLD.beside)(1, Size::Small, &mut put).unwrap();
    for (name, _, make) in WORLD.folders {
        make(1, Size::Small, &mut |path, bytes| put(&format!("{name}/{path}"), bytes)).unwrap();
    }
    all
}

/// A folder with the whole world.
pub(crate) fn world() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut write = writer(dir.path());
    files().into_iter().for_each(|(path, bytes)| write(&path, bytes));
    drop(write);
    dir
}

/// Documents show what commands print about these bytes, on every platform. FNV-1a of all paths and bytes; a change of the sample
/// changes it.
#[test]
fn its_bytes_are_the_same_everywhere() {
    let bytes = files().into_iter().flat_map(|(path, bytes)| [path.into_bytes(), vec![0], bytes].concat());
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    assert_eq!(sum, 0xe3c4_32a8_4350_df96, "the sample has other bytes: {sum:#018x}");
}

#[test]
fn its_files_are_sound_and_small() {
    let dir = world();
    let names = WORLD.files.iter().chain(WORLD.altered).map(|(name, ..)| *name);
    let all: Vec<&str> = names.chain(WORLD.folders.iter().map(|(name, ..)| *name)).collect();
    run(dir.path(), 0, &[&["verify"], &all[..]].concat());
    let mut total = 0;
    let mut folders = vec![dir.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, size) = (entry.path(), entry.metadata().unwrap().len());
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            assert!(size < 300_000, "{}: {size} bytes", path.display());
            total += size;
        }
    }
    assert!(total < 3_000_000, "{total} bytes");
}

#[test]
fn whatever_its_files_name_is_there() {
    let dir = world();
    for file in ["wows:content/assets.bin", "wows@7000000:content/assets.bin", "ship.visual", "turret.visual"] {
        let (rows, said) = run(dir.path(), 0, &["refs", "--dangling", file, "-f", "ndjson"]);
        assert_eq!(rows, "", "{file}: {said}");
    }
    let groups = "SELECT count(*) FROM render_groups WHERE material IS NULL";
    for file in ["ship.geometry", "turret.geometry"] {
        assert_eq!(run(dir.path(), 0, &["sql", groups, file, "-f", "csv"]).0, "count(*)\r\n0\r\n", "{file}");
    }
    let plates = "SELECT count(*) FROM armor_plates WHERE thickness IS NULL";
    let ship = "wows:content/gameplay/common/ship/cruiser/XSC501_Aurora_1942/ship.geometry";
    assert_eq!(run(dir.path(), 0, &["sql", plates, ship, "-f", "csv"]).0, "count(*)\r\n0\r\n");
}

fn meshes(dir: &tempfile::TempDir, args: &[&str]) -> BTreeMap<String, [[f32; 3]; 2]> {
    run(dir.path(), 0, &[&["export"], args, &["--to", "out.glb", "--force"]].concat());
    let glb = gltf::Gltf::from_slice(&std::fs::read(dir.path().join("out.glb")).unwrap()).unwrap();
    let bounds = |mesh: gltf::Mesh<'_>| {
        let bounds = mesh.primitives().next().unwrap().bounding_box();
        (mesh.name().unwrap().to_owned(), [bounds.min, bounds.max])
    };
    glb.meshes().map(bounds).collect()
}

/// The bones of a turret put its vertices into one place, which sums of rounded numbers state a little differently.
#[test]
fn each_turret_stands_on_its_barbette() {
    let dir = world();
    let meshes = meshes(&dir, &["ship.geometry"]);
    for (name, z) in [("XGM_1Shape", 57.0), ("XGM_2Shape", 43.0), ("XGM_3Shape", -40.0), ("XGM_4Shape", -55.0)] {
        let [min, max] = meshes[name];
        assert!(min[2] * 15.0 < z && max[2] * 15.0 > z && min[1] > 0.4, "{name}: {min:?} to {max:?}");
    }
}

#[test]
fn the_ship_of_the_game_has_all_of_her_guns() {
    let dir = world();
    run(dir.path(), 0, &["export", "wows", "--ship", "Aurora", "--to", "out.glb"]);
    let glb = gltf::Gltf::from_slice(&std::fs::read(dir.path().join("out.glb")).unwrap()).unwrap();
    let root = glb.default_scene().unwrap().nodes().next().unwrap();
    let guns = root.children().filter(|node| node.name().is_some_and(|name| name.starts_with("HP_XG"))).count();
    assert_eq!(guns, 10);
}

#[test]
fn a_later_build_differs_as_a_note_of_a_patch_would_say() {
    let dir = world();
    let game = ["wows@7000000:content/GameParams.data", "wows:content/GameParams.data"];
    let reload = "path = 'A_Artillery.HP_XGM_1.shotDelay' AND entity = 'PXSC501_Aurora_1942'";
    let (said, _) = run(dir.path(), 1, &["diff", game[0], game[1], "-t", "fields", "-w", reload]);
    assert!(said.contains("8.5 -> 7.5"), "{said}");
    let (said, _) = run(dir.path(), 1, &["diff", game[0], game[1], "-t", "ships"]);
    assert!(said.contains("PXSC502_Borealis_1944"), "{said}");
}

/// A user asks for one ship: by the path of her files and by her name in the parameters, which no table of the game has.
#[test]
fn what_changed_for_one_ship_is_a_condition_on_two_builds() {
    let dir = world();
    let diff = |code, condition: &str| {
        run(dir.path(), code, &["diff", "wows@7000000", "wows", "--deep", "-w", condition, "-f", "csv"])
    };
    let (said, _) = diff(1, "entity ~ '*aurora*'");
    assert_eq!((said.lines().count(), said.matches("A_Artillery.HP_XGM_").count()), (5, 4), "{said}");
    // The database that holds rows of the ship is no file of hers.
    let (said, _) = diff(1, "path ~ '*aurora*'");
    let rows = |table: &str| said.lines().filter(|line| line.starts_with(&format!("{table},"))).count();
    assert_eq!((rows("files"), rows("content/assets.bin:resources")), (3, 1), "{said}");
    // Of a file that is selected, all rows are.
    let (said, _) = diff(1, "path ~ '*/GameParams.data'");
    assert!(said.contains("content/GameParams.data:entities,added,"), "{said}");
    let (_, err) = diff(2, "entty ~ '*aurora*'");
    assert!(err.contains("no column entty"), "{err}");
    let (_, err) = run(dir.path(), 2, &["diff", "wows@7000000", "wows", "--ship", "Aurora"]);
    assert!(err.contains("`assetq history NAME OLD NEW` shows what changed for a ship"), "{err}");
}

#[test]
fn a_condition_that_no_value_of_a_column_meets_lists_the_values() {
    let dir = world();
    let armor = ["ls", "GameParams.data", "-t", "armor", "--where"];
    let (_, err) = run(dir.path(), 1, &[&armor[..], &["thickness > 25 and material ~ '*citadel*'"]].concat());
    assert!(err.contains("; did you mean Cit_"), "{err}");
    let (_, err) = run(dir.path(), 1, &[&armor[..], &["material = 'keel'"]].concat());
    assert!(err.contains("; values of material: Bow_Bottom, Bow_ConstrSide, "), "{err}");
    // Each alone has rows.
    let (_, err) = run(dir.path(), 1, &[&armor[..], &["material = 'Cit_Belt' and component = 'nothing'"]].concat());
    assert!(err.contains("; values of component: A_"), "{err}");
}

/// The sign that separates names in advice is a part of this name.
#[test]
fn an_advised_name_is_one_word_of_a_shell() {
    let dir = world();
    let (_, err) = run(dir.path(), 1, &["set", "town.wdata", "Mirabel.name", "Rosamund", "--dry-run"]);
    assert!(err.contains("did you mean \"Mirabel, flower seller.name\"?"), "{err}");
}

/// "In which of my two builds does this name appear?": the column `file` names the build, however the builds are given.
#[test]
fn a_name_is_found_in_the_builds_that_have_it() {
    let dir = world();
    let found = |args: &[&str]| {
        let (rows, _) = run(dir.path(), 0, &[args, &["-f", "csv"]].concat());
        let files = rows.lines().skip(1).map(|row| row.split(',').next().unwrap().to_owned());
        files.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    let builds = ["wows@7000000", "wows@7100000"];
    for name in ["Aurora", "Borealis"] {
        let expected = if name == "Aurora" { &builds[..] } else { &builds[1..] };
        for args in [
            &["find", name, builds[0], builds[1]][..],
            &["find", builds[0], builds[1], name],
            &["find", name, "wows@*"],
        ] {
            assert_eq!(found(args), expected, "{args:?}");
        }
        let databases = builds.map(|build| format!("{build}:content/assets.bin"));
        let expected: Vec<String> = expected.iter().map(|build| format!("{build}:content/assets.bin")).collect();
        assert_eq!(found(&["find", name, &databases[0], &databases[1]]), expected);
        assert_eq!(found(&["find", name, "--count", &databases[0], &databases[1]]), expected);
    }
    // Of a game its paths are searched, and the note says how to search what its files hold: the older build has the name in texts.
    for build in [builds[0], "wows@7000000:"] {
        let (_, said) = run(dir.path(), 1, &["find", "Borealis", build]);
        assert!(said.contains("write 'wows@7000000:*'"), "{said}");
    }
    let (_, said) = run(dir.path(), 1, &["find", "Borealis", builds[0], "ff13", "se2"]);
    let note = "its files and the files of 2 others were not opened; write 'wows@7000000:*' to search them, or 'wows@*:*' for all its builds";
    assert_eq!(said.matches("note: ").count(), 1, "{said}");
    assert!(said.contains(note), "{said}");
    let (rows, _) = run(dir.path(), 0, &["find", "Borealis", "wows@7000000:*", "--count", "-f", "csv"]);
    assert_eq!(rows.lines().skip(1).collect::<Vec<_>>(), ["wows@7000000:texts/en/LC_MESSAGES/global.mo,texts,1"]);
    // An entry is followed by its whole name, which a part of it suggests.
    let (_, said) = run(dir.path(), 1, &["history", "XSC502_Borealis", "wows@*"]);
    let whole = "content/gameplay/common/ship/cruiser/XSC502_Borealis_1944";
    assert!(said.contains("is in none of 2 builds; did you mean") && said.contains(whole), "{said}");
    let (said, _) = run(dir.path(), 0, &["history", whole, "wows@*", "-f", "csv"]);
    assert!(said.contains("7100000,added,paths,"), "{said}");
    assert_eq!(run(dir.path(), 0, &["history", whole, "wows@*:content/assets.bin", "-f", "csv"]).0, said);
    let (_, said) = run(dir.path(), 2, &["history", whole, "assets.bin@*"]);
    assert!(said.contains("a bwdb file has no builds"), "{said}");
    let (_, said) = run(dir.path(), 1, &["history", whole, "wows@8*"]);
    assert!(said.contains("wows@8*: no build matches"), "{said}");
}

/// A damaged file is named, although the condition is about a column that it lacks.
#[test]
fn a_condition_on_two_builds_hides_no_damage() {
    let dir = world();
    let inner = "content/gameplay/common/ship/cruiser/XSC501_Aurora_1942/ship.splash";
    let loose = dir.path().join("wows/bin/7100000/res").join(inner);
    let bytes = std::fs::read(dir.path().join("ship.splash")).unwrap();
    std::fs::create_dir_all(loose.parent().unwrap()).unwrap();
    std::fs::write(loose, &bytes[..bytes.len() - 9]).unwrap();
    for condition in ["entity ~ '*aurora*'", "path ~ '*aurora*'"] {
        let args = ["diff", "wows@7000000", "wows", "--deep", "-w", condition, "-f", "csv"];
        let (rows, said) = run(dir.path(), 3, &args);
        assert!(said.contains(inner) && said.contains("24 bytes needed, 15 left"), "{condition}: {said}");
        assert!(rows.lines().count() > 1, "{rows}");
    }
}

/// The name of an entry can only be set to itself, so no message advises it.
#[test]
fn only_values_that_can_change_are_advised() {
    let dir = world();
    let folder = "content/gameplay/common/ship/cruiser/XSC501_Aurora_1942";
    let (_, said) = run(dir.path(), 2, &["set", "assets.bin", folder, "x", "--dry-run"]);
    assert!(said.contains("is an object, and no value in it can be set alone"), "{said}");
    let (_, said) =
        run(dir.path(), 2, &["set", "wows:content/GameParams.data", "PXSC501_Aurora_1942.level", "5", "--in-place"]);
    assert!(said.contains("gameparams files are read and not written"), "{said}");
    // No file of the first statement is left.
    run(dir.path(), 2, &["sql", "SELECT 1; SELECT 2", "enemy.wdb", "--into", "two.sqlite"]);
    assert!(!dir.path().join("two.sqlite").exists());
}
