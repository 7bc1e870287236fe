//! The command as a page, in a real browser. `ASSETQ_WEB` names the page that `web/build` made; without it, or without a
//! browser, tests say that they skip. `.ci/web` runs them.
#![cfg(all(unix, feature = "cli"))]
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

#[path = "../command/view/browser.rs"]
mod browser;

use assetq_sample::{FILES, Size, wdb};
use browser::{Browser, Scheme, Tab};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The page and a browser for it.
fn ready() -> Option<(Arc<Browser>, PathBuf)> {
    let Some(page) = std::env::var_os("ASSETQ_WEB").map(PathBuf::from) else {
        eprintln!("skipped: ASSETQ_WEB names no page that web/build made");
        return None;
    };
    Some((Browser::start()?, page))
}

/// The page, opened from the disk and started.
fn open<'b>(browser: &'b Browser, page: &Path, width: u32, scheme: Scheme) -> Tab<'b> {
    started(browser.open_first(page, width, 900, scheme))
}

fn started(tab: Tab<'_>) -> Tab<'_> {
    tab.wait("document.body.dataset.ready === 'true'");
    tab
}

fn sample(dir: &Path, name: &str, size: Size) -> PathBuf {
    let (_, _, make) = FILES.iter().find(|(file, ..)| *file == name).unwrap();
    fs::write(dir.join(name), make(1, size)).unwrap();
    dir.join(name)
}

/// Waits until the command that runs has ended, with this exit code.
fn ended(tab: &Tab<'_>, code: i32) {
    tab.wait(
        "document.querySelector('#stop').hidden && document.querySelector('#state').textContent.includes(' s · ')",
    );
    let state = text(tab, "#state");
    let is_as_wanted =
        if code == 0 { state.starts_with("done") } else { state.starts_with(&format!("exit code {code}:")) };
    assert!(is_as_wanted, "{state}: {}\n{:?}", text(tab, "main"), tab.errors());
}

/// Waits until the page of a file is shown.
fn viewed(tab: &Tab<'_>) {
    tab.wait("!!document.querySelector('#look iframe')");
    ended(tab, 0);
}

fn text(tab: &Tab<'_>, selector: &str) -> String {
    tab.eval(&format!("document.querySelector({})?.innerText ?? ''", json!(selector))).as_str().unwrap().to_owned()
}

fn fill(tab: &Tab<'_>, selector: &str, value: &str) {
    tab.eval(&format!(
        "(() => {{ const e = document.querySelector({}); e.value = {}; e.dispatchEvent(new Event('change')); }})()",
        json!(selector),
        json!(value)
    ));
}

/// Presses the button of a panel, and waits until its command has ended.
fn submit(tab: &Tab<'_>, panel: &str, code: i32) {
    tab.eval(&format!("(() => {{ document.querySelector('#state').textContent = ''; document.querySelector('#{panel} form').requestSubmit(); }})()"));
    ended(tab, code);
}

/// Changes the race of a record of `sheet.wdb`, which is shown.
fn set_race(tab: &Tab<'_>, race: &str) {
    tab.click("#tab-edit");
    fill(tab, "#edit [name=row]", "r0000005");
    fill(tab, "#edit [name=column]", "u7Race");
    fill(tab, "#edit [name=value]", race);
    submit(tab, "edit", 0);
}

/// Runs a line of the console.
fn console(tab: &Tab<'_>, line: &str, code: i32) {
    tab.click("#tab-console");
    fill(tab, "#line", line);
    let lines = tab.eval("document.querySelectorAll('#console .line').length").as_u64().unwrap() + 1;
    submit(tab, "console", code);
    tab.wait(&format!("document.querySelectorAll('#console .line').length === {lines}"));
}

/// A database of `size` bytes: the head of one, and nothing after it, so that it has no blocks on the disk.
fn hollow(dir: &Path, size: u64) -> PathBuf {
    let large = dir.join("large.bin");
    fs::write(&large, fs::read(sample(dir, "assets.bin", Size::Small)).unwrap()).unwrap();
    fs::File::options().write(true).open(&large).unwrap().set_len(size).unwrap();
    large
}

/// A folder for the downloads of the page.
fn downloads(tab: &Tab<'_>) -> TempDir {
    let dir = TempDir::new().unwrap();
    tab.call("Page.setDownloadBehavior", json!({ "behavior": "allow", "downloadPath": dir.path() }));
    dir
}

/// The bytes of a download, once it is complete.
fn downloaded(dir: &TempDir, name: &str) -> Vec<u8> {
    let began = Instant::now();
    loop {
        if let Ok(bytes) = fs::read(dir.path().join(name)) {
            return bytes;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{name} is not saved");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Saves a file that the page offers, as a person does, and reads it.
fn made(tab: &Tab<'_>, name: &str) -> Vec<u8> {
    let dir = downloads(tab);
    let link =
        format!("[...document.querySelectorAll('#made a')].find((link) => link.textContent === {})", json!(name));
    tab.wait(&format!("!!{link}"));
    tab.eval(&format!("{link}.click()"));
    downloaded(&dir, name)
}

#[test]
fn a_file_that_is_opened_from_the_disk_is_shown_in_a_frame_of_its_own() {
    let Some((browser, page)) = ready() else { return };
    let dir = TempDir::new().unwrap();
    let ship = sample(dir.path(), "ship.geometry", Size::Small);
    let tab = open(&browser, &page, 1280, Scheme::Light);
    tab.shot("web-empty-1280");
    tab.choose("#pick-files", &[&ship]);
    viewed(&tab);
    assert_eq!(text(&tab, "#command"), "assetq view ship.geometry");
    assert!(text(&tab, "#opened button").contains("geometry"), "{}", text(&tab, "#opened"));
    let frame = tab.frame();
    frame.wait("!!document.querySelector('.overview')");
    assert_eq!(frame.eval("origin"), "null");
    frame.eval("document.querySelector('.start').click()");
    frame.wait("Number(document.querySelector('[data-ready]')?.dataset.frames) > 0");
    frame.eval("document.querySelector('#parts-of-page a:last-child').click()");
    frame.wait("document.querySelector('.part:not([hidden])').classList.contains('search')");
    assert_eq!((tab.errors(), frame.errors()), (vec![], vec![]));
}

#[test]
fn the_sample_is_made_found_queried_and_verified_without_any_file() {
    let Some((browser, page)) = ready() else { return };
    let tab = open(&browser, &page, 1280, Scheme::Light);
    tab.click("#try");
    viewed(&tab);
    tab.frame().wait("!!document.querySelector('.overview')");
    let listed = text(&tab, "#opened");
    for file in ["assets.bin", "ship.geometry", "wows", "rusty-hearts", "savegame.vrb"] {
        assert!(listed.contains(file), "{file}: {listed}");
    }
    tab.shot("web-sample-1280");

    tab.click("#tab-find");
    fill(&tab, "#find [name=text]", "*Antenna*");
    submit(&tab, "find", 0);
    assert!(text(&tab, "#find .result").contains("Antenna"), "{}", text(&tab, "#find .result"));
    assert_eq!(
        text(&tab, "#command"),
        "assetq find '*Antenna*' sample -f csv",
        "a folder is asked once for all of its files"
    );
    tab.shot("web-find-1280");
    tab.click("#find tr:nth-child(2) td button");
    tab.wait("document.querySelector('#command').textContent === 'assetq view sample/se2'");
    viewed(&tab);
    let frame = tab.frame();
    frame.wait("document.querySelector('#parts-of-page [aria-current]')?.textContent.includes('Definitions') ?? false");
    frame.wait("document.querySelector('.part:not([hidden]) input[type=search]')?.value === 'name:\"Antenna\"'");

    tab.click("#tab-sql");
    fill(&tab, "#sql [name=file]", "sample/assets.bin");
    tab.eval("document.querySelector('#sql textarea').focus()");
    tab.text("SELECT type, count(*) AS n FROM resou");
    tab.wait("!document.querySelector('#words').hidden");
    tab.shot("web-words-1280");
    tab.key("Enter");
    tab.text(" GROUP BY type ORDER BY n DESC, type DESC LIMIT 2");
    submit(&tab, "sql", 0);
    let cells = tab.eval("[...document.querySelectorAll('#sql td')].map((cell) => cell.textContent)");
    assert_eq!(cells[0], "VisualPrototype");
    tab.shot("web-sql-1280");
    tab.click("#sql [name=save]");
    tab.wait("document.querySelector('#made').innerText.includes('answer.csv')");
    let csv = String::from_utf8(made(&tab, "answer.csv")).unwrap();
    assert!(
        csv.starts_with("type,n") && csv.contains(&format!("VisualPrototype,{}", cells[1].as_str().unwrap())),
        "{csv}"
    );

    tab.click("#tab-verify");
    fill(&tab, "#verify [name=file]", "sample/assets.bin");
    submit(&tab, "verify", 0);
    assert!(text(&tab, "#verify .result").contains("nothing wrong"));

    tab.click("#tab-compare");
    fill(&tab, "#compare [name=old]", "sample/assets.bin");
    fill(&tab, "#compare [name=new]", "sample/altered.bin");
    submit(&tab, "compare", 1);
    tab.wait("!!document.querySelector('#compare iframe')");
    tab.shot("web-compare-1280");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_changed_value_gives_the_changed_file_and_the_way_back() {
    let Some((browser, page)) = ready() else { return };
    let dir = TempDir::new().unwrap();
    let sheet = sample(dir.path(), "sheet.wdb", Size::Small);
    let tab = open(&browser, &page, 1280, Scheme::Light);
    tab.choose("#pick-files", &[&sheet]);
    viewed(&tab);
    set_race(&tab, "3");
    tab.shot("web-edit-1280");
    let command = "assetq set sheet.wdb r0000005.u7Race 3 --to sheet-changed.wdb --undo sheet.wdb.undo.ndjson";
    assert_eq!(text(&tab, "#command"), command);
    let changed = made(&tab, "sheet-changed.wdb");
    let old = fs::read(&sheet).unwrap();
    assert!(changed.len() == old.len() && changed != old);
    // The page takes its own undo.
    console(&tab, "assetq patch sheet-changed.wdb sheet.wdb.undo.ndjson --to back.wdb", 0);
    assert!(made(&tab, "back.wdb") == old);
    console(&tab, "view sheet-changed.wdb", 0);
    assert_eq!(tab.eval("document.querySelector('#tab-look').getAttribute('aria-selected')"), "true");
    // Keys bring lines back.
    tab.click("#tab-console");
    tab.eval("document.querySelector('#line').focus()");
    tab.key("ArrowUp");
    tab.key("ArrowUp");
    assert!(tab.eval("document.querySelector('#line').value").as_str().unwrap().starts_with("assetq patch"));
    console(&tab, "ls 'no such file'", 4);
    tab.shot("web-console-1280");
    // A page that a command writes is shown instead of its text.
    console(&tab, "diff sheet.wdb sheet-changed.wdb -f html", 1);
    tab.wait("document.querySelector('#tab-look').getAttribute('aria-selected') === 'true'");
    tab.frame().wait("document.body.innerText.includes('u7Race')");
    assert_eq!(tab.errors(), [""; 0]);
}

/// The bytes of a file that is made are in the memory of the page only.
#[test]
fn a_change_follows_another_and_is_not_lost_when_the_page_is_closed() {
    let Some((browser, page)) = ready() else { return };
    let dir = TempDir::new().unwrap();
    let tab = open(&browser, &page, 1280, Scheme::Light);
    tab.choose("#pick-files", &[&sample(dir.path(), "sheet.wdb", Size::Small)]);
    viewed(&tab);
    let may_close = "dispatchEvent(new Event('beforeunload', { cancelable: true }))";
    assert_eq!(tab.eval(may_close), true);
    set_race(&tab, "3");
    assert_eq!(tab.eval(may_close), false);
    tab.click("#edit .made button");
    tab.wait("document.querySelector('#command').textContent === 'assetq view sheet-changed.wdb'");
    viewed(&tab);
    tab.click("#tab-edit");
    fill(&tab, "#edit [name=row]", "r0000006");
    fill(&tab, "#edit [name=column]", "u7Race");
    fill(&tab, "#edit [name=value]", "4");
    submit(&tab, "edit", 0);
    let command =
        "assetq set sheet-changed.wdb r0000006.u7Race 4 --to sheet-changed-2.wdb --undo sheet-changed.wdb.undo.ndjson";
    assert_eq!(text(&tab, "#command"), command);
    console(&tab, "sql 'SELECT u7Race FROM records LIMIT 2 OFFSET 5' sheet-changed-2.wdb -f csv", 0);
    assert!(text(&tab, "#console .log").contains("3\n4"), "{}", text(&tab, "#console .log"));
    for name in ["sheet-changed.wdb", "sheet.wdb.undo.ndjson", "sheet-changed-2.wdb", "sheet-changed.wdb.undo.ndjson"] {
        assert_eq!(tab.eval(may_close), false, "{name} is not saved");
        made(&tab, name);
    }
    assert_eq!(tab.eval(may_close), true);
    assert_eq!(tab.errors(), [""; 0]);
}

/// A file of the browser's own disk stands in for one that a person picks.
#[test]
fn a_change_is_saved_into_the_opened_file_unless_another_program_has_changed_it() {
    let Some((browser, page)) = ready() else { return };
    let dir = TempDir::new().unwrap();
    let old = fs::read(sample(dir.path(), "sheet.wdb", Size::Small)).unwrap();
    let tab = started(browser.open_address(&served(&page), 1280, 900, Scheme::Light));
    let saved = downloads(&tab);
    tab.eval(&format!(
        "(async () => {{
            const root = await navigator.storage.getDirectory();
            const handle = await root.getFileHandle('sheet.wdb', {{ create: true }});
            window.write = async (bytes) => {{ const out = await handle.createWritable(); await out.write(new Uint8Array(bytes)); await out.close(); }};
            window.read = async () => [...new Uint8Array(await (await handle.getFile()).arrayBuffer())];
            window.showOpenFilePicker = async () => [handle];
            await write({});
        }})()",
        json!(old)
    ));
    tab.click("#open-files");
    viewed(&tab);
    set_race(&tab, "3");
    assert_eq!(tab.eval("read()"), json!(old), "nothing is written before it is asked for");
    tab.click("#edit .placing button");
    tab.wait("document.querySelector('#edit .placing').innerText.includes('sheet.wdb is changed')");
    assert_eq!(tab.eval("read()"), json!(made(&tab, "sheet-changed.wdb")));
    assert!(!downloaded(&saved, "sheet.wdb.undo.ndjson").is_empty());
    // The next command reads the new bytes, and the undo fits them.
    console(&tab, "patch sheet.wdb sheet.wdb.undo.ndjson --to back.wdb", 0);
    assert!(made(&tab, "back.wdb") == old);

    // Of two changes of the same bytes one is saved. The other one would undo it.
    set_race(&tab, "4");
    tab.click("#tab-sql");
    fill(&tab, "#sql [name=query]", "UPDATE records SET u7Race = 5 WHERE record = 'r0000006'");
    submit(&tab, "sql", 0);
    let before = tab.eval("read()");
    tab.eval("for (const button of document.querySelectorAll('.placing button')) button.click()");
    tab.wait("document.querySelector('#edit .placing').innerText.includes('another change of it was saved')");
    tab.wait("document.querySelector('#sql .placing').innerText.includes('sheet.wdb is changed')");
    assert_ne!(tab.eval("read()"), before);
    // The second undo leads to the bytes that the first change left.
    let undo = tab.eval("/patch sheet.wdb (.*)/.exec(document.querySelector('#sql .placing').innerText)[1]");
    console(&tab, &format!("patch sheet.wdb {} --to again.wdb", undo.as_str().unwrap()), 0);
    assert_eq!(json!(made(&tab, "again.wdb")), before);

    set_race(&tab, "6");
    tab.eval(&format!("write({})", json!(old)));
    tab.click("#edit .placing button");
    tab.wait("document.querySelector('#edit .placing').innerText.includes('another program has changed it')");
    assert_eq!(tab.eval("read()"), json!(old));
    assert_eq!(tab.errors(), [""; 0]);
}

/// The panels, by the names of their tabs.
const PANELS: [&str; 8] = ["look", "find", "sql", "verify", "compare", "export", "edit", "console"];

/// Opens the sample, and lets panels show an answer.
fn with_answers(tab: &Tab<'_>) {
    tab.click("#try");
    viewed(tab);
    tab.click("#tab-find");
    fill(tab, "#find [name=text]", "*Antenna*");
    submit(tab, "find", 0);
    tab.click("#tab-sql");
    fill(tab, "#sql [name=file]", "sample/enemy.wdb");
    fill(tab, "#sql [name=query]", "SELECT * FROM records");
    submit(tab, "sql", 0);
    tab.click("#tab-verify");
    fill(tab, "#verify [name=file]", "sample/assets.bin");
    submit(tab, "verify", 0);
    console(tab, "ls sample/enemy.wdb", 0);
}

/// Set `ASSETQ_AXE` to the path of `axe.min.js`, of the package axe-core.
#[test]
fn axe_finds_nothing_in_any_panel_in_light_and_dark_and_on_a_phone() {
    let Some(axe) = std::env::var_os("ASSETQ_AXE") else {
        eprintln!("skipped: ASSETQ_AXE names no axe.min.js");
        return;
    };
    let Some((browser, page)) = ready() else { return };
    let axe = fs::read_to_string(axe).unwrap();
    // Frames hold pages of the command, which have a test of their own.
    let js = "axe.run({ runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }, iframes: false })
        .then(({ violations }) => violations.map((v) => `${v.id}: ${v.nodes[0].html}`))";
    for (width, scheme) in [(1280, Scheme::Light), (1280, Scheme::Dark), (390, Scheme::Light), (390, Scheme::Dark)] {
        let tab = open(&browser, &page, width, scheme);
        tab.call("Runtime.evaluate", json!({ "expression": axe }));
        assert_eq!(tab.eval(js), json!([]), "empty {width} {scheme:?}");
        with_answers(&tab);
        for panel in PANELS {
            tab.click(&format!("#tab-{panel}"));
            assert_eq!(tab.eval(js), json!([]), "{panel} {width} {scheme:?}");
        }
    }
}

/// Contents that are wider than their window hide a part of themselves.
#[test]
fn nothing_is_wider_than_the_window_or_the_list_of_files() {
    let Some((browser, page)) = ready() else { return };
    for width in [1280, 390] {
        let tab = open(&browser, &page, width, Scheme::Light);
        with_answers(&tab);
        for panel in PANELS {
            tab.click(&format!("#tab-{panel}"));
            // An answer is scrolled within its place.
            let wide = tab.eval(&format!(
                "[...document.querySelectorAll('html, nav, #opened li, main, #{panel}, #{panel} form')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.cloneNode().outerHTML)"
            ));
            assert_eq!(wide, json!([]), "{panel} at {width}");
        }
        assert_eq!(
            tab.eval("document.querySelector('#opened').open"),
            width == 1280,
            "a phone shows the file that was chosen"
        );
    }
}

#[test]
fn light_and_dark_are_chosen_for_the_shown_file_too() {
    let Some((browser, page)) = ready() else { return };
    let tab = open(&browser, &page, 1280, Scheme::Light);
    tab.click("#try");
    viewed(&tab);
    let frame = tab.frame();
    frame.wait("!!document.querySelector('.overview')");
    assert_eq!(frame.eval("document.querySelector('#theme').checkVisibility()"), false, "one button is enough");
    tab.click("#theme");
    frame.wait("getComputedStyle(document.documentElement).colorScheme === 'dark'");
    tab.click("#opened [aria-current]");
    viewed(&tab);
    tab.frame().wait("getComputedStyle(document.documentElement).colorScheme === 'dark'");
    assert_eq!(tab.errors(), [""; 0]);
}

/// Reads the tree that a screen reader gets.
#[test]
fn each_control_of_each_panel_has_a_name() {
    let Some((browser, page)) = ready() else { return };
    let tab = open(&browser, &page, 1280, Scheme::Light);
    with_answers(&tab);
    tab.call("Accessibility.enable", json!({}));
    let mut seen = 0;
    for panel in PANELS {
        tab.click(&format!("#tab-{panel}"));
        let tree = tab.call("Accessibility.getFullAXTree", json!({}));
        for node in tree["nodes"].as_array().unwrap().iter().filter(|node| node["ignored"] == false) {
            let role = node["role"]["value"].as_str().unwrap();
            let is_control = [
                "button",
                "link",
                "textbox",
                "searchbox",
                "combobox",
                "tab",
                "tabpanel",
                "Iframe",
                "log",
                "DisclosureTriangle",
            ];
            if is_control.contains(&role) {
                assert_ne!(node["name"]["value"].as_str().unwrap_or_default().trim(), "", "{panel}: {node}");
                seen += 1;
            }
        }
    }
    assert!(seen > 200, "{seen} controls");
}

/// Presses Tab until an element has the focus.
fn reach(tab: &Tab<'_>, selector: &str) {
    for _ in 0..300 {
        if tab.eval(&format!("document.activeElement.matches({})", json!(selector))) == true {
            return;
        }
        tab.key("Tab");
    }
    panic!("Tab does not lead to {selector}");
}

#[test]
fn all_is_done_with_the_keyboard_alone() {
    let Some((browser, page)) = ready() else { return };
    let tab = open(&browser, &page, 1280, Scheme::Light);
    reach(&tab, "#try");
    tab.key("Enter");
    viewed(&tab);
    reach(&tab, "#tab-look");
    for (at, panel) in PANELS.iter().enumerate() {
        if at > 0 {
            tab.key("ArrowRight");
        }
        assert_eq!(tab.eval("document.activeElement.id"), format!("tab-{panel}"));
        if at == 0 {
            continue; // The frame has stops of its own.
        }
        // All that can be pressed or typed into, in the order of the page.
        let all = tab.eval(&format!(
            "(window.left = new Set([...document.querySelectorAll('#{panel} :is(button, input, select, textarea, a[href], summary)')].filter((e) => e.checkVisibility() && !e.disabled))).size"
        ));
        assert!(all.as_u64().unwrap() >= 2, "{panel}: {all}");
        for _ in 0..all.as_u64().unwrap() + 3 {
            tab.key("Tab");
            tab.eval("left.delete(document.activeElement)");
        }
        assert_eq!(tab.eval("[...left].map((e) => e.outerHTML)"), json!([]), "{panel}");
        tab.eval(&format!("document.querySelector('#tab-{panel}').focus()"));
    }
    tab.key("Home");
    tab.key("ArrowRight");
    tab.key("ArrowRight");
    reach(&tab, "#sql textarea");
    tab.text("SELECT 6 * 7 AS answer");
    tab.key("Escape");
    reach(&tab, "#sql form button.main");
    tab.key("Enter");
    tab.wait("document.querySelector('#sql td')?.textContent === '42'");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_game_is_dropped_as_a_folder_and_its_files_are_opened_inside() {
    let Some((browser, page)) = ready() else { return };
    let dir = TempDir::new().unwrap();
    let assetq = env!("CARGO_BIN_EXE_assetq");
    let made = std::process::Command::new(assetq)
        .args(["sample", "all", "--seed", "1"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(made.status.success());
    let tab = open(&browser, &page, 1920, Scheme::Dark);
    tab.drop_files(&[&dir.path().join("all/wows")]);
    viewed(&tab);
    assert!(text(&tab, "#opened button").contains("wows"), "{}", text(&tab, "#opened"));
    tab.eval("(() => { const e = document.querySelector('#inside-of'); e.value = 'assets'; e.dispatchEvent(new Event('input')); })()");
    tab.wait("!!document.querySelector('#inside-found button')");
    tab.click("#inside-found button");
    tab.wait("document.querySelector('#command').textContent.includes('wows:content/assets.bin')");
    viewed(&tab);
    tab.shot("web-game-1920");
    assert_eq!(tab.errors(), [""; 0]);
    // The page does not know of games before they are dropped.
    console(&tab, "games", 1);
    let said = text(&tab, "#console .log");
    assert!(said.contains("drop the folder of a game"), "{said}");
}

/// The files of a .zip that stores them, by its index.
fn stored(zip: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let number = |at: usize, len: usize| zip[at..at + len].iter().rev().fold(0, |all, &b| all << 8 | usize::from(b));
    let end = zip.len() - 22;
    assert!(zip[end..].starts_with(b"PK\x05\x06"));
    let (mut at, mut files) = (number(end + 16, 4), BTreeMap::new());
    for _ in 0..number(end + 10, 2) {
        assert!(zip[at..].starts_with(b"PK\x01\x02"));
        let (sum, len, named, file) = (number(at + 16, 4), number(at + 24, 4), number(at + 28, 2), number(at + 42, 4));
        let name = String::from_utf8(zip[at + 46..at + 46 + named].to_vec()).unwrap();
        // The head before a file repeats these fields of the index.
        assert!(zip[file..].starts_with(b"PK\x03\x04") && zip[file + 4..file + 30] == zip[at + 6..at + 32]);
        let bytes = zip[file + 30 + named..][..len].to_vec();
        assert_eq!(crc32fast::hash(&bytes) as usize, sum, "{name}");
        assert!(files.insert(name, bytes).is_none());
        at += 46 + named;
    }
    assert_eq!(at, end);
    files
}

#[test]
fn files_of_a_game_are_extracted_and_saved_together() {
    let Some((browser, page)) = ready() else { return };
    let dir = TempDir::new().unwrap();
    let run = |line: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_assetq"));
        assert!(command.args(line.split(' ')).current_dir(dir.path()).output().unwrap().status.success(), "{line}");
    };
    run("sample all --seed 1");
    let tab = open(&browser, &page, 1280, Scheme::Light);
    tab.drop_files(&[&dir.path().join("all/wows")]);
    viewed(&tab);
    tab.eval("(() => { const e = document.querySelector('#inside-of'); e.value = '.bin'; e.dispatchEvent(new Event('input')); })()");
    tab.wait("!!document.querySelector('#inside-found .extract')");
    tab.click("#inside-found .extract");
    tab.wait("!document.querySelector('#save-all').hidden");
    assert_eq!(text(&tab, "#command"), "assetq extract wows '*.bin*' --to wows-files");
    let saved = downloads(&tab);
    tab.click("#save-all");
    let zip = stored(&downloaded(&saved, "assetq.zip"));
    run("extract all/wows *.bin* --to wows-files");
    assert!(zip.len() > 1, "{:?}", zip.keys());
    for (name, bytes) in &zip {
        assert!(fs::read(dir.path().join(name)).unwrap() == *bytes, "{name}");
    }
    tab.wait("dispatchEvent(new Event('beforeunload', { cancelable: true }))");
    assert_eq!(tab.errors(), [""; 0]);
}

/// SQLite reads such a log by memory that programs share, which a page does not have.
#[test]
fn a_database_with_a_write_ahead_log_is_named_with_the_way_to_read_it() {
    let Some((browser, page)) = ready() else { return };
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("log.sqlite");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1);").unwrap();
    let tab = open(&browser, &page, 1280, Scheme::Light);
    tab.choose("#pick-files", &[&path, &dir.path().join("log.sqlite-wal"), &dir.path().join("log.sqlite-shm")]);
    ended(&tab, 3);
    console(&tab, "sql 'SELECT a FROM t' log.sqlite", 4);
    let said = text(&tab, "#console .log");
    assert!(said.contains("log.sqlite: its write-ahead log cannot be read in a page"), "{said}");
    assert!(said.contains("PRAGMA wal_checkpoint(TRUNCATE)"), "{said}");
    // As SQLite leaves it once the last program closes it.
    drop(database);
    let tab = open(&browser, &page, 1280, Scheme::Light);
    tab.choose("#pick-files", &[&path]);
    ended(&tab, 3);
    console(&tab, "sql 'SELECT a FROM t' log.sqlite", 0);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn two_dropped_folders_are_compared() {
    let Some((browser, page)) = ready() else { return };
    let dir = TempDir::new().unwrap();
    let (old, new) = (dir.path().join("old"), dir.path().join("new"));
    for (folder, seed) in [(&old, 1), (&new, 2)] {
        fs::create_dir_all(folder.join("data")).unwrap();
        let (.., make) = FILES.iter().find(|(file, ..)| *file == "sheet.wdb").unwrap();
        fs::write(folder.join("data/sheet.wdb"), make(seed, Size::Small)).unwrap();
    }
    let tab = open(&browser, &page, 1280, Scheme::Light);
    let text_file = dir.path().join("notes.txt");
    fs::write(&text_file, "no asset").unwrap();
    tab.choose("#pick-files", &[&text_file]);
    ended(&tab, 3);
    tab.click("#tab-compare");
    tab.drop_files(&[&old, &new]);
    tab.wait("!!document.querySelector('#compare iframe')");
    ended(&tab, 1);
    assert_eq!(text(&tab, "#command"), "assetq diff old new -f html");
    assert_eq!(tab.eval("document.querySelector('#compare').hidden"), false);
    let url = tab.eval("document.querySelector('#compare iframe').src");
    tab.frame_at(url.as_str().unwrap()).wait("document.body.innerText.includes('data/sheet.wdb')");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_damaged_file_an_unknown_one_and_a_hostile_name_are_named_and_run_nothing() {
    let Some((browser, page)) = ready() else { return };
    let dir = TempDir::new().unwrap();
    let bytes = fs::read(sample(dir.path(), "sheet.wdb", Size::Small)).unwrap();
    let (damaged, hostile) =
        (dir.path().join("damaged.wdb"), dir.path().join("<img src=x onerror=alert(1)>\u{202e}'$(x).wdb"));
    let mut bad = bytes.clone();
    let len = bad.len();
    bad[len - 40..].fill(0xFF);
    fs::write(&damaged, bad).unwrap();
    fs::write(&hostile, &bytes).unwrap();
    let tab = open(&browser, &page, 1280, Scheme::Light);
    tab.choose("#pick-files", &[&damaged, &hostile]);
    tab.wait("!!document.querySelector('#look iframe')");
    assert_eq!(tab.eval("document.querySelectorAll('#opened img').length"), 0);
    assert!(text(&tab, "#opened").contains("onerror=alert(1)>\\u{202e}"), "{}", text(&tab, "#opened"));
    fill(&tab, "#verify [name=file]", "damaged.wdb");
    submit(&tab, "verify", 3);
    assert!(text(&tab, "#verify .bad, #look").contains("damaged") || text(&tab, "#state").contains("damaged"));
    let text_file = dir.path().join("notes.txt");
    fs::write(&text_file, "no asset").unwrap();
    let tab = open(&browser, &page, 390, Scheme::Light);
    tab.shot("web-empty-390");
    tab.choose("#pick-files", &[&text_file]);
    tab.wait("document.querySelector('#look .note') !== null");
    ended(&tab, 3);
    // No file can be chosen, so that nothing is asked of one.
    let command = text(&tab, "#command");
    for panel in ["sql", "verify", "export", "edit"] {
        tab.click(&format!("#tab-{panel}"));
        tab.eval(&format!(
            "for (const field of document.querySelectorAll('#{panel} :is(input, textarea)')) field.value = 'x'"
        ));
        tab.eval(&format!(
            "for (const button of document.querySelectorAll('#{panel} form button:not([name=all])')) button.click()"
        ));
        assert_eq!(text(&tab, "#command"), command, "{panel}");
    }
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_phone_shows_the_end_of_the_last_answer_above_the_next_line() {
    let Some((browser, page)) = ready() else { return };
    let dir = TempDir::new().unwrap();
    let tab = open(&browser, &page, 390, Scheme::Light);
    tab.choose("#pick-files", &[&sample(dir.path(), "sheet.wdb", Size::Small)]);
    viewed(&tab);
    console(&tab, "help", 0);
    console(&tab, "sql 'SELECT 6 * 7 AS answer' sheet.wdb", 0);
    let distance = "(() => {
        const [answer, line] = ['#console .log pre:last-of-type', '#line'].map((e) => document.querySelector(e).getBoundingClientRect());
        return line.top - answer.bottom;
    })()";
    let distance = tab.eval(distance).as_f64().unwrap();
    assert!((0.0..100.0).contains(&distance), "{distance}");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_file_beyond_memory_is_named_with_what_fits() {
    let Some((browser, page)) = ready() else { return };
    let dir = TempDir::new().unwrap();
    let large = hollow(dir.path(), 3 << 30);
    let tab = open(&browser, &page, 1280, Scheme::Light);
    tab.choose("#pick-files", &[&large]);
    tab.wait("document.querySelector('#look .note') !== null");
    ended(&tab, 4);
    let said = text(&tab, "#look");
    assert!(
        said.contains("there is no memory for its 3221225472 bytes") && said.contains("up to about 2 GB"),
        "{said}"
    );
    assert_eq!(tab.errors(), [""; 0]);
}

/// A browser frees the memory of a worker at once, and of a module in a worker late.
#[test]
fn a_command_with_much_memory_leaves_its_files_to_a_new_worker() {
    let Some((browser, page)) = ready() else { return };
    let dir = TempDir::new().unwrap();
    let large = hollow(dir.path(), 100 << 20);
    let tab = open(&browser, &page, 1280, Scheme::Light);
    tab.choose("#pick-files", &[&large]);
    tab.wait("document.querySelector('#look').innerText !== 'reading …'");
    console(&tab, "sample sample", 0);
    // The second snapshot of a build replaces the first one.
    console(&tab, "snapshot sample/wows '*.bin' --to saved", 0);
    console(&tab, "snapshot sample/wows '*.mo' --to saved --force", 0);
    let list = "ls saved -f csv";
    console(&tab, list, 0);
    let listed = text(&tab, "#console .log pre:last-of-type");
    tab.eval("{ const Old = Worker; globalThis.started = 0; globalThis.Worker = class extends Old { constructor(from) { super(from); started++; } }; }");
    console(&tab, list, 0);
    assert_eq!(tab.eval("started"), 0, "a small command leaves its worker to the next one");
    console(&tab, "info large.bin", 0);
    tab.wait("started === 1");
    console(&tab, list, 0);
    assert_eq!(text(&tab, "#console .log pre:last-of-type"), listed);
    assert!(text(&tab, "#made").contains("global.mo") && !text(&tab, "#made").contains("space.bin"));
    assert_eq!(tab.errors(), [""; 0]);
}

/// Serves the page as any static host does, without headers of its own, and returns its address.
fn served(page: &Path) -> String {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", server.local_addr().unwrap());
    let bytes = fs::read(page).unwrap();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                bytes.len()
            );
            let _ = stream.write_all(&bytes);
        }
    });
    address
}

#[test]
fn the_page_works_over_http_and_connects_to_nothing() {
    let Some((browser, page)) = ready() else { return };
    let tab = started(browser.open_address(&served(&page), 1280, 900, Scheme::Light));
    tab.click("#try");
    viewed(&tab);
    tab.frame().wait("!!document.querySelector('.overview')");
    assert_eq!(tab.errors(), [""; 0]);
    let refused = tab.eval("fetch(location.href).then(() => 'connected', () => 'refused')");
    assert_eq!(refused, "refused");
}

/// More rows than a person reads are left to *Save*.
#[test]
fn of_many_rows_the_first_ones_are_shown() {
    let Some((browser, page)) = ready() else { return };
    let dir = TempDir::new().unwrap();
    let mut sheet = wdb::Sheet::new(wdb::Game::Later, "Many").fields(["sName", "u16HitPoints"]);
    for n in 0..20_000i64 {
        sheet = sheet.record(format!("m{n:06}"), [wdb::Cell::from(&*format!("monster {n}")), n.into()]);
    }
    fs::write(dir.path().join("many.wdb"), sheet.build()).unwrap();
    let tab = open(&browser, &page, 1280, Scheme::Light);
    tab.choose("#pick-files", &[&dir.path().join("many.wdb")]);
    viewed(&tab);
    tab.click("#tab-sql");
    fill(&tab, "#sql [name=query]", "SELECT * FROM records");
    submit(&tab, "sql", 0);
    assert!(text(&tab, "#sql .count").contains("first 1000 rows"), "{}", text(&tab, "#sql .count"));
}
