//! Pages in a real browser. Where none is at hand, tests say that they skip.

mod about;
mod aids;
mod browser;
mod compare;
mod exact;
mod image;
mod joints;
mod map;
mod scene;
mod seen;
mod several;
mod state;
mod tables;
mod walk;
mod zones;

use crate::common::damage::with_damaged_row;
use crate::common::run;
use assetq_sample::wdb::{Cell, Game, Sheet};
use assetq_sample::{FILES, Size};
use browser::{Browser, Scheme, Tab};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The page over `file` in `dir`, opened.
fn view<'b>(browser: &'b Browser, dir: &Path, file: &str, width: u32, scheme: Scheme) -> Tab<'b> {
    run(dir, 0, &["view", file, "--to", "page.html", "--force"]);
    opened(browser, dir, width, scheme)
}

/// The page in `dir`, opened.
fn opened<'b>(browser: &'b Browser, dir: &Path, width: u32, scheme: Scheme) -> Tab<'b> {
    let tab = browser.open(&dir.join("page.html"), width, 800, scheme);
    tab.wait("!document.getElementById('loading')");
    // Keeps copied text for the test.
    tab.eval("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }, 0");
    tab
}

/// Goes to a part, and waits until it shows something.
fn go(tab: &Tab<'_>, part: &str) {
    tab.eval(&format!("assetq.page.go({})", json!(part)));
    tab.wait(&format!(
        "(() => {{ const part = assetq.page.parts.find((part) => part.id === {}); const e = part.element; \
         return !!e && !e.hidden && (e.querySelector('.line, .node, .change, .overview, .found, canvas') !== null || part.meta.rows === 0); }})()",
        json!(part)
    ));
}

/// The cell texts of the rows that are laid out, without row numbers.
fn lines(tab: &Tab<'_>) -> Vec<Vec<String>> {
    let js = "[...document.querySelectorAll('.part:not([hidden]) .line')].map((line) => \
              [...line.querySelectorAll('[role=gridcell]')].map((cell) => cell.textContent))";
    serde_json::from_value(tab.eval(js)).unwrap()
}

/// Types into the filter of the part that is shown.
fn filter(tab: &Tab<'_>, text: &str) {
    let tally = "document.querySelector('.part:not([hidden]) .tally').textContent";
    let before = tab.eval(tally);
    tab.eval("(() => { const e = document.querySelector('.part:not([hidden]) input[type=search]'); e.focus(); e.select(); })()");
    if text.is_empty() {
        tab.key("Backspace")
    } else {
        tab.text(text)
    }
    tab.wait(&format!("{tally} !== {before} && {tally} !== '…'"));
    // The next frame lays the remaining rows out.
    tab.eval("new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(() => next(0))))");
}

/// Whether two values say the same, whichever digits stand for a number.
fn is_alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || a.as_f64() == b.as_f64() || a.as_f64().map(|n| n as f32) == b.as_f64().map(|n| n as f32)
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_alike(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| is_alike(a, b)))
        }
        _ => a == b,
    }
}

fn sample(dir: &Path, name: &str, size: Size) {
    let (_, _, make) = FILES.iter().find(|(file, ..)| *file == name).unwrap();
    fs::write(dir.join(name), make(1, size)).unwrap();
}

/// Monsters whose numbers are in no order.
fn monsters(count: i64) -> Vec<u8> {
    let mut sheet = Sheet::new(Game::Later, "Monsters").fields(["sName", "u16HitPoints"]);
    for n in 0..count {
        sheet = sheet.record(format!("m{n:06}"), [Cell::from(&*format!("monster {n}")), (n * 37 % 997).into()]);
    }
    sheet.build()
}

#[test]
fn every_part_of_a_page_of_every_format_opens_without_an_error() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    for (name, ..) in FILES {
        sample(dir.path(), name, Size::Small);
        // Other tests see the parts in light.
        let tab = view(&browser, dir.path(), name, 1280, Scheme::Dark);
        assert!(tab.eval("document.title").as_str().unwrap().ends_with(name), "{name}");
        let parts: Vec<String> = serde_json::from_value(tab.eval("assetq.page.parts.map((part) => part.id)")).unwrap();
        assert!(!parts.is_empty(), "{name}");
        for part in &parts {
            go(&tab, part);
            for width in [1280, 900, 480] {
                tab.size(width, 800);
                tab.eval("new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(() => next(0))))");
                let across = tab.eval("document.documentElement.scrollWidth <= innerWidth");
                assert_eq!(across, true, "{name} {part} is wider than {width}");
                if *part == parts[0] {
                    tab.shot(&format!("{name}-{width}"));
                }
            }
        }
        assert_eq!(tab.errors(), [""; 0], "{name}");
    }
}

/// The page decodes for itself what it shows: every cell of every table is what an export has.
#[test]
fn copied_rows_are_those_of_an_export() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    for (name, ..) in FILES {
        sample(dir.path(), name, Size::Small);
        let tab = view(&browser, dir.path(), name, 1280, Scheme::Light);
        let tables =
            tab.eval("assetq.page.parts.filter((part) => part.kind === 'table').map((part) => part.meta.table)");
        let tables: Vec<String> = serde_json::from_value(tables).unwrap();
        let out = format!("{name}-rows/");
        run(dir.path(), 0, &["export", name, "--all-tables", "--to", &out, "--as", "csv"]);
        for table in &tables {
            let exported = fs::read_to_string(dir.path().join(&out).join(format!("{table}.csv"))).unwrap();
            assert_same_rows(&copied_rows(&tab, table), &exported, &format!("{name} {table}"));
        }
        assert_eq!(tab.errors(), [""; 0], "{name}");
    }
}

/// The rows of a table that the page copies, with all columns.
fn copied_rows(tab: &Tab<'_>, table: &str) -> String {
    go(tab, &format!("table={table}"));
    tab.eval(
        "(() => { const part = document.querySelector('.part:not([hidden])'); globalThis.copied = null; \
         part.querySelectorAll('.choice input:not(:checked)').forEach((box) => box.click()); \
         part.querySelector('.copy').click(); })()",
    );
    tab.wait("copied !== null");
    tab.eval("copied").as_str().unwrap().to_owned()
}

fn assert_same_rows(copied: &str, exported: &str, what: &str) {
    let rows = |csv: &str| -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(csv.as_bytes());
        reader.records().map(|row| row.unwrap().iter().map(Into::into).collect()).collect()
    };
    let (copied, exported) = (rows(copied), rows(exported));
    assert_eq!(copied.len(), exported.len(), "{what}");
    for (copied, exported) in copied.iter().zip(&exported) {
        let is_same = |(a, b): (&String, &String)| {
            let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
            a == b || parsed(a).zip(parsed(b)).is_some_and(|(a, b)| is_alike(&a, &b))
        };
        let is_same = copied.len() == exported.len() && copied.iter().zip(exported).all(is_same);
        assert!(is_same, "{what}\n{copied:?}\n{exported:?}");
    }
}

/// A page of a file with a damaged row has the rows that `ls` has, with the same cells empty, and names the damage.
#[test]
fn rows_of_a_damaged_file_are_those_of_the_command() {
    let Some(browser) = Browser::start() else { return };
    let mut damaged = 0;
    for (name, _, make) in FILES {
        let Some(bytes) = with_damaged_row(name, name, &make(1, Size::Small)) else { continue };
        // A page of a model shows the geometry that lies beside it.
        let dir = TempDir::new().unwrap();
        let assetq =
            |args: &[&str]| Command::new(crate::common::program()).current_dir(dir.path()).args(args).output().unwrap();
        for (name, make) in assetq_sample::BESIDE {
            fs::write(dir.path().join(name), make(1, Size::Small)).unwrap();
        }
        fs::write(dir.path().join(name), bytes).unwrap();
        let shown = assetq(&["view", name, "--to", "page.html", "--force"]);
        assert_eq!(shown.status.code(), Some(3), "{name}: {}", String::from_utf8_lossy(&shown.stderr));
        // Where the whole content is one damaged text, there is no page.
        if !dir.path().join("page.html").exists() {
            continue;
        }
        let tab = opened(&browser, dir.path(), 1280, Scheme::Light);
        let parts = "assetq.page.parts.filter((part) => part.kind === 'table' && part.meta.rows > 0)";
        let tables: Vec<(String, bool)> =
            serde_json::from_value(tab.eval(&format!("{parts}.map(({{ meta }}) => [meta.table, meta.damaged > 0])")))
                .unwrap();
        for (table, is_damaged) in &tables {
            let listed = assetq(&["ls", name, "-t", table, "-f", "csv"]);
            let what = format!("{name} {table}: {}", String::from_utf8_lossy(&listed.stderr));
            assert_same_rows(&copied_rows(&tab, table), &String::from_utf8(listed.stdout).unwrap(), &what);
            assert_eq!(*is_damaged, listed.status.code() == Some(3), "{what}");
            damaged += usize::from(*is_damaged);
        }
    }
    assert!(damaged > 5, "{damaged} tables are damaged");
}

#[test]
fn a_page_says_once_what_a_graph_says_and_not_where_the_file_lies() {
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "savegame.vrb", Size::Small);
    let file = dir.path().join("savegame.vrb");
    run(dir.path(), 0, &["view", file.to_str().unwrap(), "--to", "page.html"]);
    let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
    // Nor where the file lies.
    assert!(page.contains("<title>savegame.vrb</title>") && !page.contains(dir.path().to_str().unwrap()));
    let (parts, _) = page.split_once("id=\"parts\">").unwrap().1.split_once("</script>").unwrap();
    let parts: Value = serde_json::from_str(parts).unwrap();
    let values = parts["parts"].as_array().unwrap().iter().find(|part| part["id"] == "table=values").unwrap();
    let (meta, columns) = (&values["meta"], values["meta"]["columns"].as_array().unwrap());
    for (n, column) in columns.iter().enumerate() {
        let block = format!("id=\"b:{}.0.{n}\"", meta["block"].as_str().unwrap());
        assert_eq!(page.contains(&block), column["name"] == "type", "{column}");
    }
    assert!(meta["rows"].as_u64().unwrap() > 100);
}

/// A page with only some rows of a table says so; this page claims that there were more.
#[test]
fn a_table_that_is_cut_says_how_to_get_all_of_it() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("sheet.wdb"), monsters(20)).unwrap();
    run(dir.path(), 0, &["view", "sheet.wdb", "--to", "whole.html"]);
    let whole = fs::read_to_string(dir.path().join("whole.html")).unwrap();
    let command = "assetq export sheet.wdb --table monsters --to monsters.parquet";
    let more = json!({ "of": 5_000_000, "command": command }).to_string();
    fs::write(dir.path().join("page.html"), whole.replace("\"more\":null", &format!("\"more\":{more}"))).unwrap();
    let tab = browser.open(&dir.path().join("page.html"), 480, 800, Scheme::Light);
    tab.wait("document.querySelector('.part:not([hidden]) .line') !== null");
    let note = tab.eval("document.querySelector('.part:not([hidden]) .note').textContent");
    assert_eq!(note, format!("This page has the first 20 of 5,000,000 rows. All of them: {command}"));
    assert_eq!(tab.eval("document.documentElement.scrollWidth <= innerWidth"), true);
    assert_eq!(tab.errors(), [""; 0]);
}

/// A browser is what the platform opens pages with: here a script that tells which page it was given.
#[cfg(target_os = "linux")]
#[test]
fn without_a_place_to_write_to_a_page_is_opened() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("my sheet.wdb"), monsters(20)).unwrap();
    let (bin, told) = (dir.path().join("bin"), dir.path().join("told"));
    fs::create_dir(&bin).unwrap();
    assert!(Command::new("mkfifo").arg(&told).status().unwrap().success());
    let script = format!("#!/bin/sh\nprintf %s \"$#$1\" > '{}'\n", told.display());
    fs::write(bin.join("xdg-open"), script).unwrap();
    fs::set_permissions(bin.join("xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = |args: &[&str], path: &str| {
        let mut command = Command::new(crate::common::program());
        command.args(args).current_dir(dir.path());
        command.env("PATH", path).env("TMPDIR", dir.path()).output().unwrap()
    };
    let view = |path: &str| run(&["view", "my sheet.wdb"], path);
    let out = view(&format!("{}:/usr/bin:/bin", bin.display()));
    assert_eq!((out.status.code(), &*out.stderr), (Some(0), &b""[..]));
    let page = String::from_utf8(out.stdout).unwrap();
    let page = page.trim_end();
    // Read once the script wrote it.
    assert_eq!(fs::read_to_string(&told).unwrap(), format!("1{page}"));
    assert!(page.ends_with("/my_sheet.wdb.html") && Path::new(page).starts_with(dir.path()), "{page}");
    assert!(fs::read_to_string(page).unwrap().contains("<title>my sheet.wdb</title>"));
    let folder = fs::metadata(Path::new(page).parent().unwrap()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o077, 0, "others could read it");

    // Without one, the page is there to be opened by hand.
    let out = view("");
    assert_eq!(out.status.code(), Some(0));
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(said.contains("no browser could be started"), "{said}");
    assert!(Path::new(String::from_utf8(out.stdout).unwrap().trim_end()).is_file());

    // A file that is dropped on the program is its only argument. A command wins over a file of its name.
    let out = run(&["my sheet.wdb"], "");
    assert_eq!(out.status.code(), Some(0));
    assert!(Path::new(String::from_utf8(out.stdout).unwrap().trim_end()).is_file());
    fs::copy(dir.path().join("my sheet.wdb"), dir.path().join("help")).unwrap();
    let shown = String::from_utf8(run(&["help"], "").stdout).unwrap();
    assert!(shown.contains("Usage: assetq"), "{shown}");
}

#[test]
fn a_table_is_scrolled_filtered_and_put_in_order() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.wdb"), monsters(5000)).unwrap();
    let tab = view(&browser, dir.path(), "a.wdb", 1280, Scheme::Light);
    go(&tab, "table=records");
    assert_eq!(lines(&tab)[0], ["m000000", "monster 0", "0"]);
    let laid = tab.eval("document.querySelectorAll('.line').length");
    assert!(laid.as_u64().unwrap() < 60, "{laid} of 5000 rows are laid out");

    tab.wheel(700.0, 400.0, 26_000.0);
    tab.wait("document.querySelector('.line').dataset.at > 900");
    tab.click(".grid");
    tab.key("End");
    tab.wait("[...document.querySelectorAll('.line')].at(-1).dataset.at === '4999'");
    tab.key("Home");
    tab.wait("document.querySelector('.line').dataset.at === '0'");

    tab.click(".head > span:nth-of-type(4) > button");
    tab.wait("document.querySelectorAll('.line')[1].lastChild.textContent === '0'");
    let in_order = lines(&tab);
    assert!(in_order.is_sorted_by_key(|line| line[2].parse::<u32>().unwrap()), "{in_order:?}");
    tab.click(".head > span:nth-of-type(4) > button");
    tab.wait("document.querySelector('.line [role=gridcell]:last-child').textContent === '996'");

    filter(&tab, "u16HitPoints>995 monster");
    let kept = lines(&tab);
    assert!(!kept.is_empty() && kept.iter().all(|line| line[2] == "996"), "{kept:?}");
    filter(&tab, "sName=\"monster 77\"");
    assert_eq!(lines(&tab), [["m000077", "monster 77", &(77 * 37 % 997).to_string()]]);
    assert_eq!(tab.eval("document.querySelector('.tally').textContent"), "1 of 5,000");
    tab.click(".take");
    tab.click(".ways .copy");
    tab.wait("globalThis.copied !== undefined");
    assert_eq!(tab.eval("copied"), format!("record,sName,u16HitPoints\r\nm000077,monster 77,{}\r\n", 77 * 37 % 997));
    filter(&tab, "nobody");
    assert_eq!(lines(&tab).len(), 0);
    assert_eq!(tab.errors(), [""; 0]);
}

/// Where two texts are as near, every output has the same.
#[test]
fn floats_have_the_digits_of_other_outputs() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let mut sheet = Sheet::new(Game::Later, "Floats").fields(["fX"]);
    for n in 0..60 {
        sheet = sheet.record(format!("r{n:02}"), [Cell::Float((n * 37 - 900) as f32 / 1024.0)]);
    }
    fs::write(dir.path().join("a.wdb"), sheet.build()).unwrap();
    let tab = view(&browser, dir.path(), "a.wdb", 1280, Scheme::Light);
    go(&tab, "table=records");
    let (csv, _) = run(dir.path(), 0, &["export", "a.wdb", "--table", "records", "--to", "-", "--as", "csv"]);
    tab.click(".take");
    tab.click(".ways .copy");
    tab.wait("globalThis.copied !== undefined");
    assert_eq!(tab.eval("copied"), csv);
}

#[test]
fn rows_are_put_in_order_opened_and_left_by_keyboard() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.wdb"), monsters(5000)).unwrap();
    let tab = view(&browser, dir.path(), "a.wdb", 1280, Scheme::Light);
    go(&tab, "table=records");
    tab.eval("document.querySelector('.head > span:nth-of-type(4) > button').focus()");
    for least in ["0", "996"] {
        tab.key("Enter");
        tab.wait(&format!("document.querySelector('.line [role=gridcell]:last-child').textContent === '{least}'"));
        assert_eq!(tab.eval("document.activeElement.textContent.slice(0, 12)"), "u16HitPoints");
        assert_eq!(tab.eval("document.querySelector('.detail').hidden"), true);
    }
    tab.eval("document.querySelector('.grid').focus()");
    tab.key("ArrowDown");
    tab.key("Enter");
    tab.wait("document.activeElement.className === 'detail'");
    assert_eq!(tab.eval("document.querySelector('.detail dd span').textContent"), lines(&tab)[1][0]);
    tab.key("Escape");
    assert_eq!(tab.eval("document.activeElement.className + document.querySelector('.detail').hidden"), "gridtrue");
    assert_eq!(tab.errors(), [""; 0]);
}

/// Browsers bound how high an element can be: the place of the bar stands for a row then, and the wheel still goes by rows.
#[test]
fn a_table_that_is_higher_than_an_element_can_be_shows_every_row() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.wdb"), monsters(400_000)).unwrap();
    let tab = view(&browser, dir.path(), "a.wdb", 900, Scheme::Dark);
    go(&tab, "table=records");
    tab.wheel(600.0, 400.0, 260.0);
    tab.wait("document.querySelector('.line').dataset.at === '6'");
    assert_eq!(lines(&tab)[4][0], "m000010", "ten rows on, four are laid out above");
    tab.click(".grid");
    tab.key("End");
    tab.wait("[...document.querySelectorAll('.line')].at(-1).dataset.at === '399999'");
    tab.eval("document.querySelector('.grid').scrollTop = document.querySelector('.grid').scrollHeight / 2");
    tab.wait("Math.abs(document.querySelector('.line').dataset.at - 200000) < 400");
    tab.eval("assetq.page.go('table=records', { row: 123456 })");
    tab.wait("document.querySelector('[aria-selected]')?.textContent.includes('m123456')");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn references_lead_to_their_rows() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "assets.bin", Size::Small);
    let tab = view(&browser, dir.path(), "assets.bin", 1280, Scheme::Light);
    go(&tab, "table=models");
    let link = "[...document.querySelectorAll('.part:not([hidden]) .line a')].find((a) => a.hash.startsWith('#table=visuals'))";
    tab.wait(&format!("{link} !== undefined"));
    let visual = tab.eval(&format!("{link}.textContent"));
    tab.eval(&format!("{link}.click()"));
    tab.wait(
        "!document.querySelector('.part:not([hidden]) .detail')?.hidden && location.hash.startsWith('#table=visuals')",
    );
    tab.wait("document.querySelector('.part:not([hidden]) [aria-selected]') !== null");
    let id = tab.eval("document.querySelector('.part:not([hidden]) .detail').textContent");
    assert!(id.as_str().unwrap().contains(visual.as_str().unwrap()), "{visual}: {id}");
    tab.shot("reference-1280");
    tab.eval("history.back()");
    tab.wait("document.querySelector('.part:not([hidden])').getAttribute('aria-label') === 'models'");

    // A nested value is laid out in lines.
    tab.eval("assetq.page.go('table=lods', { row: 0 })");
    tab.wait("document.querySelectorAll('.part:not([hidden]) .detail dd div').length > 3");
    let detail = tab.eval("document.querySelector('.part:not([hidden]) .detail').textContent");
    assert!(!detail.as_str().unwrap().contains("\\n"), "{detail}");
    assert_eq!(tab.errors(), [""; 0]);
}

/// Whatever a file says is shown, and nothing of it is run.
#[test]
fn a_hostile_text_is_shown_and_not_run() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let hostile = "</script><script>globalThis.ran = 1</script><img src=x onerror='ran = 1'>\u{202e}";
    let sheet = Sheet::new(Game::Later, "<b>").fields(["sName"]).record("<script>", [Cell::from(hostile)]).build();
    let name = "<img src=x onerror=ran=1>.wdb";
    fs::write(dir.path().join(name), &sheet).unwrap();
    fs::write(dir.path().join("old.wdb"), monsters(3)).unwrap();
    let tab = view(&browser, dir.path(), name, 480, Scheme::Light);
    go(&tab, "table=records");
    let shown = lines(&tab)[0][1].clone();
    assert_eq!(shown, hostile.replace('\u{202e}', "\\u{202e}"));
    tab.click(".part:not([hidden]) .line");
    tab.wait("!document.querySelector('.detail').hidden");
    tab.shot("hostile-480");
    assert_eq!(tab.eval("globalThis.ran === undefined && document.images.length === 0"), true);
    assert_eq!(tab.eval("document.title"), format!("Records · {name}"));
    // The policy stands in the way even of what the page itself would do.
    tab.eval("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"globalThis.ran = 1\"><b style=\"color:red\">')");
    tab.wait("document.images[0].complete");
    assert_eq!(tab.eval("globalThis.ran === undefined"), true);
}

#[test]
fn a_graph_unfolds_and_says_the_path_of_a_value() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "savegame.vrb", Size::Small);
    let tab = view(&browser, dir.path(), "savegame.vrb", 900, Scheme::Light);
    go(&tab, "graph=[Main]");
    let laid = tab.eval("document.querySelectorAll('.node').length").as_u64().unwrap();
    filter(&tab, "max");
    tab.wait("document.querySelector('.item[aria-selected]') !== null");
    assert!(tab.eval("document.querySelectorAll('.node').length").as_u64().unwrap() > laid);
    // Of every value that is laid out once much is unfolded, `cat` finds the path, and the same value there.
    tab.eval("(() => { for (let n = 0; n < 5; n++) document.querySelectorAll('.item[aria-expanded=false] > .node').forEach((e) => e.click()); })()");
    let branches = "assetq.page.parts.find(({ view }) => view?.graph).view.branches";
    let js = &format!("[...{branches}.items.keys()]");
    let nodes: Vec<u64> = serde_json::from_value(tab.eval(js)).unwrap();
    assert!(nodes.len() > 40, "{}", nodes.len());
    for node in nodes.iter().step_by(nodes.len() / 12) {
        tab.eval(&format!("{branches}.items.get({node}).row.click()"));
        tab.eval("document.querySelector('.copy-path').click()");
        let path = tab.eval("copied").as_str().unwrap().to_owned();
        tab.eval("document.querySelector('.copy-path').nextElementSibling.click()");
        let value: Value = serde_json::from_str(tab.eval("copied").as_str().unwrap()).unwrap();
        let (shown, _) = run(dir.path(), 0, &["cat", "savegame.vrb", &path, "-f", "json"]);
        assert!(is_alike(&serde_json::from_str(&shown).unwrap(), &value), "{path}\n{value}\n{shown}");
    }
    tab.shot("graph-900");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn parts_are_reached_by_keyboard_and_in_a_narrow_window() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "assets.bin", Size::Small);
    let tab = view(&browser, dir.path(), "assets.bin", 480, Scheme::Dark);
    go(&tab, "table=paths");
    tab.key("]");
    tab.wait("document.title.startsWith('Resources')");
    tab.key("/");
    assert_eq!(tab.eval("document.activeElement.type"), "search");
    tab.key("Escape");
    tab.click("#menu");
    tab.wait("getComputedStyle(document.querySelector('nav')).display !== 'none'");
    tab.shot("menu-480");
    tab.click("nav a[href='#table=strings']");
    tab.wait(
        "location.hash === '#table=strings' && getComputedStyle(document.querySelector('nav')).display === 'none'",
    );
    let background = "getComputedStyle(document.body).backgroundColor";
    let dark = tab.eval(background);
    tab.click("#theme");
    assert_ne!(tab.eval(background), dark);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_difference_is_shown_by_kind() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let sheet = |rows: &[(&str, i64)]| {
        let all =
            rows.iter().fold(Sheet::new(Game::Later, "Monsters").fields(["u16HitPoints"]), |sheet, (name, points)| {
                sheet.record(name, [(*points).into()])
            });
        all.build()
    };
    fs::write(dir.path().join("old.wdb"), sheet(&[("bat", 3), ("golem", 400)])).unwrap();
    fs::write(dir.path().join("new.wdb"), sheet(&[("golem", 450), ("<script>", 1)])).unwrap();
    let (page, _) = run(dir.path(), 1, &["diff", "old.wdb", "new.wdb", "-f", "html"]);
    fs::write(dir.path().join("diff.html"), page).unwrap();
    for (width, scheme) in [(1280, Scheme::Light), (480, Scheme::Dark)] {
        let tab = browser.open(&dir.path().join("diff.html"), width, 800, scheme);
        tab.wait("document.querySelectorAll('.change').length === 3");
        let changed = "document.querySelector('.change .old').closest('.change').textContent";
        assert_eq!(tab.eval(changed), "~golemfieldoldnewbyu16HitPoints400450+50");
        assert_eq!(tab.eval("document.querySelector('.change .added code').textContent"), "<script>");
        tab.shot(&format!("diff-{width}"));
        tab.click("button.removed");
        tab.wait("document.querySelectorAll('.change').length === 2");
        filter(&tab, "golem");
        assert_eq!(tab.eval("document.querySelectorAll('.change').length"), 1);
        assert_eq!(tab.errors(), [""; 0]);
    }
}

#[test]
fn the_first_part_of_a_difference_says_in_words_what_changed() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let sheet = |rows: &[(&str, i64)]| {
        let sheet = Sheet::new(Game::Later, "Monsters").fields(["u16HitPoints"]);
        rows.iter().fold(sheet, |sheet, (name, points)| sheet.record(name, [(*points).into()])).build()
    };
    fs::write(dir.path().join("old.wdb"), sheet(&[("bat", 3), ("golem", 400), ("imp", 7)])).unwrap();
    fs::write(dir.path().join("new.wdb"), sheet(&[("golem", 450), ("<script>", 1), ("imp", 8)])).unwrap();
    let (page, _) = run(dir.path(), 1, &["diff", "old.wdb", "new.wdb", "-f", "html"]);
    fs::write(dir.path().join("diff.html"), page).unwrap();
    for (width, scheme) in [(1280, Scheme::Light), (1920, Scheme::Dark), (390, Scheme::Light)] {
        let tab = browser.open_first(&dir.path().join("diff.html"), width, 800, scheme);
        tab.wait("document.querySelectorAll('.changed li').length === 4");
        assert_eq!(
            tab.eval("document.querySelector('.headline').textContent"),
            "2 records changed, 1 added, 1 removed"
        );
        let lines = tab.eval("[...document.querySelectorAll('.changed li')].map((e) => e.textContent)");
        assert_eq!(
            lines,
            json!([
                "~golemu16HitPoints 400 → 450 (+50)",
                "~impu16HitPoints 7 → 8 (+1)",
                "+<script>added",
                "−batremoved"
            ])
        );
        assert_eq!(tab.eval("document.querySelectorAll('.overview h2').length"), 0, "the headline is of the one table");
        tab.shot(&format!("diff-words-{width}"));
        assert_eq!(tab.eval("document.documentElement.scrollWidth <= innerWidth"), true);
        // A line leads to its row.
        tab.eval("[...document.querySelectorAll('.changed a')].find((e) => e.textContent === 'imp').click()");
        tab.wait("document.querySelector('.change.target code')?.textContent === 'imp'");
        tab.eval("(() => { const e = document.querySelector('[aria-label=\"order of rows\"]'); e.value = 'name'; e.dispatchEvent(new Event('change')); })()");
        let order = tab.eval("[...document.querySelectorAll('.change .key code')].map((e) => e.textContent).join()");
        assert_eq!(order, "<script>,bat,golem,imp");
        tab.wait("location.hash.includes('sort=name')");
        assert_eq!(tab.errors(), [""; 0]);
    }
}

/// Names are whole, of paths the parts that differ are shown, and each change has an address.
#[test]
fn a_difference_of_two_builds_reads_like_a_patch_note() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    run(dir.path(), 0, &["sample", "demo"]);
    run(dir.path(), 1, &["diff", "demo/wows@7000000", "demo/wows", "--deep", "-f", "html", "--to", "diff.html"]);
    let tab = browser.open_first(&dir.path().join("diff.html"), 1280, 800, Scheme::Light);
    tab.wait("document.querySelectorAll('.changed li').length > 12");
    let words = tab.eval("document.querySelector('.overview').innerText");
    for part in
        ["5 files changed, 4 added", "14 paths of content/assets.bin added", "path …/windows_a.dds → …/glass_a.dds"]
    {
        assert!(words.as_str().unwrap().contains(part), "{part}: {words}");
    }
    assert_eq!(
        tab.eval("[...document.querySelectorAll('nav a span')].every((e) => e.scrollWidth <= e.clientWidth)"),
        true
    );
    go(&tab, "diff=files");
    assert_eq!(tab.eval("[...document.querySelectorAll('.part:not([hidden]) .bar button')].every((e) => e.scrollWidth <= e.clientWidth)"), true);
    let size = tab.eval("(() => { const e = document.querySelector('.change td.old.right'); return [getComputedStyle(e).textAlign, e.textContent, e.closest('.change').querySelector('.key a').getAttribute('href')]; })()");
    assert_eq!(size, json!(["right", "35005", "#diff=files&row=4"]));
    tab.eval("document.querySelector('.change .key a').click()");
    tab.wait("location.hash === '#diff=files&row=0' && document.querySelector('.change.target') !== null");
    assert_eq!(tab.errors(), [""; 0]);
}

/// Reads a value out of the part that is shown.
const SHOWN: &str = "document.querySelector('.part:not([hidden])')";

/// Loads the page again, and waits until it has started again.
fn reload(tab: &Tab<'_>) {
    tab.eval("(() => { globalThis.isOld = true; location.reload(); })()");
    tab.wait(
        "globalThis.isOld === undefined && document.readyState === 'complete' && !document.getElementById('loading')",
    );
}

/// Opens another address of the same page.
fn visit(tab: &Tab<'_>, hash: &str) {
    tab.eval(&format!("(() => {{ location.hash = {}; }})()", json!(hash)));
    tab.eval("new Promise((next) => setTimeout(() => requestAnimationFrame(() => next(0)), 30))");
}

#[test]
fn a_filter_compares_and_negates_and_names_what_it_does_not_know() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.wdb"), monsters(3000)).unwrap();
    let tab = view(&browser, dir.path(), "a.wdb", 1280, Scheme::Light);
    go(&tab, "table=records");
    let points: Vec<i64> = (0..3000).map(|n| n * 37 % 997).collect();
    let count = |keep: &dyn Fn(i64) -> bool| points.iter().filter(|point| keep(**point)).count();
    let cases: [(&str, usize); 8] = [
        ("u16HitPoints>=990", count(&|p| p >= 990)),
        ("U16HITPOINTS<=3", count(&|p| p <= 3)),
        ("u16HitPoints!=5", count(&|p| p != 5)),
        ("u16HitPoints<1,000", 3000),
        ("-u16HitPoints>0.1k", count(&|p| p <= 100)),
        ("MONSTER -monster", 0),
        (
            "sName:\"monster 299\" u16HitPoints<500",
            (0..3000).filter(|n| format!("monster {n}").contains("monster 299") && n * 37 % 997 < 500).count(),
        ),
        ("-\"monster 1\"", (0..3000).filter(|n| !format!("monster {n}").contains("monster 1")).count()),
    ];
    let many = |n: usize| if n < 1000 { n.to_string() } else { format!("{},{:03}", n / 1000, n % 1000) };
    for (text, expected) in cases {
        visit(&tab, &format!("#table=records&q={}", text.replace(' ', "%20")));
        let tally = if expected == 3000 { "3,000 rows".to_owned() } else { format!("{} of 3,000", many(expected)) };
        tab.wait(&format!("{SHOWN}.querySelector('.tally').textContent === {}", json!(tally)));
        assert_eq!(tab.eval(&format!("{SHOWN}.querySelector('.none').hidden")), expected > 0, "{text}");
    }
    visit(&tab, "#table=records&q=hitpoint:5");
    tab.wait(&format!("!{SHOWN}.querySelector('.query').hidden"));
    let fault = tab.eval(&format!("{SHOWN}.querySelector('.query').textContent"));
    assert_eq!(fault, "records has no column hitpoint; did you mean u16HitPoints?");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn the_address_holds_filter_order_and_row() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.wdb"), monsters(100)).unwrap();
    let tab = view(&browser, dir.path(), "a.wdb", 1280, Scheme::Light);
    visit(&tab, "#table=records&q=monster&sort=-u16HitPoints&row=7");
    tab.wait(&format!("{SHOWN}.querySelector('[aria-selected]')?.textContent.includes('m000007')"));
    let first = lines(&tab);
    let points: Vec<i64> = first.iter().map(|line| line[2].parse().unwrap()).collect();
    assert!(points.is_sorted_by(|a, b| a >= b) && points.len() > 10, "{points:?}");
    reload(&tab);
    tab.wait("document.querySelector('[aria-selected]') !== null");
    assert_eq!(
        (lines(&tab), tab.eval("location.hash")),
        (first, json!("#table=records&q=monster&sort=-u16HitPoints&row=7"))
    );
    tab.eval("document.querySelector('.detail').focus()");
    tab.key("Escape");
    tab.wait("location.hash === '#table=records&q=monster&sort=-u16HitPoints'");
    for (hash, said) in
        [("#table=record", "did you mean table=records?"), ("#table=records&row=500", "has no row 500: it has 100")]
    {
        visit(&tab, hash);
        tab.wait(&format!("document.getElementById('say').textContent.includes({})", json!(said)));
    }
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn an_address_keeps_its_filter_and_shows_a_row_that_the_filter_leaves_out() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.wdb"), monsters(100)).unwrap();
    let tab = view(&browser, dir.path(), "a.wdb", 1280, Scheme::Light);
    let kept = (0..100).filter(|n| n * 37 % 997 < 100).count();
    // Row 7 has 259 points.
    let hash = "#table=records&q=u16HitPoints%3C100&row=7";
    let note = format!("{SHOWN}.querySelector('.detail .note')");
    visit(&tab, hash);
    tab.wait(&format!("{SHOWN}.querySelector('.detail b')?.textContent === 'records 7'"));
    assert_eq!(tab.eval(&format!("{note}.innerText")), "The filter leaves this row out. Clear the filter");
    assert_eq!(tab.eval(&format!("{SHOWN}.querySelector('.tally').textContent")), format!("{kept} of 100"));
    assert_eq!(tab.eval("location.hash"), hash);
    tab.eval(&format!("{note}.querySelector('button').click()"));
    tab.wait(&format!("{SHOWN}.querySelector('[aria-selected]')?.textContent.includes('m000007')"));
    tab.wait("location.hash === '#table=records&row=7'");
    assert_eq!(tab.eval(&format!("{note}.hidden")), true);
    // The note follows the filter that the user types.
    filter(&tab, "u16HitPoints>900");
    tab.wait(&format!("!{note}.hidden"));
    assert_eq!(tab.errors(), [""; 0]);
}

/// The browser reports a new address later than a view that puts its state into the address.
#[test]
fn an_address_that_is_not_shown_yet_is_kept() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "assets.bin", Size::Small);
    let tab = view(&browser, dir.path(), "assets.bin", 1280, Scheme::Light);
    go(&tab, "table=resources");
    tab.wait("location.hash === '#table=resources'");
    tab.eval("(() => { location.hash = '#table=visuals&row=1'; assetq.page.hold(); })()");
    tab.wait(&format!("{SHOWN}.querySelector('.detail b')?.textContent === 'visuals 1'"));
    assert_eq!(tab.eval("location.hash"), "#table=visuals&row=1");
    // Of two addresses that follow each other at once, the last one counts.
    tab.eval("(() => { location.hash = '#table=models&row=0'; location.hash = '#table=resources&row=2'; assetq.page.hold(); })()");
    tab.wait(&format!("{SHOWN}.querySelector('.detail b')?.textContent === 'resources 2'"));
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn an_archive_is_a_tree_of_folders_that_leads_to_rows() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    run(dir.path(), 0, &["sample", "all", "--seed", "1"]);
    run(dir.path(), 0, &["view", "all/wows", "--to", "page.html"]);
    let tab = browser.open(&dir.path().join("page.html"), 1280, 800, Scheme::Light);
    tab.wait("document.querySelector('.folders .tally, .part .tally')?.textContent.includes(' files · ')");
    // A folder has no bytes of its own.
    assert_eq!(tab.eval("document.getElementById('about').textContent.includes('bytes')"), false);
    let (files, _) =
        run(dir.path(), 0, &["sql", "SELECT count(*) FROM files WHERE path LIKE 'content/%'", "all/wows", "-f", "csv"]);
    let count = files.lines().nth(1).unwrap();
    let folder = "[...document.querySelectorAll('[role=treeitem]')].find((item) => item.querySelector('.name').textContent === 'content/')";
    let said = tab.eval(&format!("{folder}.querySelector('.count').textContent"));
    assert_eq!(said, format!("{count} files"));
    // Textures below the folder have previews, which lead to their rows.
    tab.wait("document.querySelector('.preview img')?.naturalWidth > 0");
    assert_eq!(tab.eval("[...document.querySelectorAll('.preview')].every((e) => e.title.startsWith('content/') && e.title.endsWith('.dds'))"), true);
    tab.shot("folders");
    // A page that lacks some pictures tells how to see the others; this one lacks the first.
    let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
    let (before, shown) = page.split_once(r#""shown":["#).unwrap();
    let (_, others) = shown.split_once("},").unwrap();
    fs::write(dir.path().join("fewer.html"), format!("{before}\"shown\":[{others}")).unwrap();
    let fewer = browser.open(&dir.path().join("fewer.html"), 1280, 800, Scheme::Light);
    let said = "document.querySelector('.gallery p')?.innerText";
    fewer.wait(&format!("{said} !== undefined"));
    let said = fewer.eval(said);
    let (textures, _) = run(
        dir.path(),
        0,
        &["sql", "SELECT count(*) FROM files WHERE path LIKE 'content/%.dds'", "all/wows", "-f", "csv"],
    );
    let textures: usize = textures.lines().nth(1).unwrap().parse().unwrap();
    let expected =
        format!("of the {textures} textures below have a picture in this page. Any of them: assetq view all/wows:PATH");
    assert!(said.as_str().unwrap().ends_with(&expected), "{said}");
    drop(fewer);
    tab.eval(&format!("{folder}.firstChild.click()"));
    tab.wait(&format!("{folder}.getAttribute('aria-expanded') === 'true'"));
    tab.wait("location.hash === '#folders&path=content%2F'");
    tab.eval(&format!("{folder}.querySelector('a.small').click()"));
    tab.wait(&format!("{SHOWN}.querySelector('.tally')?.textContent.startsWith('{count} of ')"));
    reload(&tab);
    visit(&tab, "#folders&path=content/gameplay/");
    tab.wait("document.querySelector('[aria-selected] .name')?.textContent === 'gameplay/'");
    tab.key("Escape");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn text_of_a_row_can_be_selected_while_rows_are_laid_out() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.wdb"), monsters(500)).unwrap();
    let tab = view(&browser, dir.path(), "a.wdb", 1280, Scheme::Light);
    go(&tab, "table=records");
    tab.eval(
        "(() => { const cell = document.querySelectorAll('.line')[3].querySelectorAll('[role=gridcell]')[1]; \
         getSelection().selectAllChildren(cell); document.querySelector('.grid').scrollTop = 20; })()",
    );
    tab.eval("new Promise((next) => setTimeout(() => next(0), 100))");
    assert_eq!(tab.eval("String(getSelection())"), "monster 3");
    tab.eval("getSelection().removeAllRanges()");
    // All rows are saved in portions, as an export has them.
    tab.eval("(() => { assetq.page.save = (name, blob) => blob.text().then((text) => (globalThis.saved = [name, text])); })()");
    for (form, at) in [("csv", "csv"), ("json", "json")] {
        tab.eval(&format!("(() => {{ globalThis.saved = null; {SHOWN}.querySelector('.save-{form}').click(); }})()"));
        tab.wait("globalThis.saved !== null");
        let (exported, _) = run(dir.path(), 0, &["export", "a.wdb", "-t", "records", "--to", "-", "--as", at]);
        let saved = tab.eval("saved");
        assert_eq!(saved[0], format!("records.{form}"));
        let saved = saved[1].as_str().unwrap();
        if form == "json" {
            assert_eq!(
                serde_json::from_str::<Value>(saved).unwrap(),
                serde_json::from_str::<Value>(&exported).unwrap()
            );
        } else {
            assert_eq!(saved, exported);
        }
    }
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_fresh_row_has_links_to_its_ids_and_to_all_who_have_them() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "assets.bin", Size::Small);
    let tab = view(&browser, dir.path(), "assets.bin", 1280, Scheme::Light);
    visit(&tab, "#table=models&row=2");
    reload(&tab);
    tab.wait(&format!("{SHOWN}?.querySelector('.detail .places a') != null"));
    let detail =
        format!("[...{SHOWN}.querySelectorAll('.detail a')].map((a) => [a.textContent, a.getAttribute('href')])");
    let links: Vec<(String, String)> = serde_json::from_value(tab.eval(&detail)).unwrap();
    assert!(
        links.iter().any(|(text, href)| text.starts_with("0x") && href.starts_with("#table=visuals&row=")),
        "{links:?}"
    );
    let (text, href) = links.iter().find(|(text, _)| text.starts_with("render_sets.id")).unwrap();
    visit(&tab, href);
    let count = text.trim_start_matches("render_sets.id (").trim_end_matches(')');
    tab.wait(&format!("{SHOWN}.querySelector('.tally').textContent.startsWith('{count} of ')"));
    // One search finds them in all tables.
    visit(&tab, "#search&q=ship");
    tab.wait(&format!("/rows in \\d+ tables/.test({SHOWN}.querySelector('.tally').textContent)"));
    let (found, _) = run(dir.path(), 0, &["find", "ship", "assets.bin", "-f", "csv"]);
    let shown = tab.eval(&format!("[...{SHOWN}.querySelectorAll('.hit > a:first-child')].map((a) => a.textContent)"));
    let shown: Vec<String> = serde_json::from_value(shown).unwrap();
    let mut found = csv::Reader::from_reader(found.as_bytes());
    let table = found.headers().unwrap().iter().position(|name| name == "table").unwrap();
    let tables: Vec<String> = found.records().map(|row| row.unwrap()[table].to_owned()).collect();
    assert!(!tables.is_empty() && tables.iter().all(|table| shown.contains(table)), "{tables:?} {shown:?}");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_history_is_a_page_with_filters() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    for (build, points) in [("1.wdb", 3), ("2.wdb", 3), ("3.wdb", 40)] {
        let sheet = Sheet::new(Game::Later, "Monsters").fields(["u16HitPoints"]).record("bat", [points.into()]);
        fs::write(dir.path().join(build), sheet.build()).unwrap();
    }
    let (page, _) = run(dir.path(), 0, &["history", "bat", "1.wdb", "2.wdb", "3.wdb", "-f", "html"]);
    fs::write(dir.path().join("page.html"), page).unwrap();
    let tab = browser.open(&dir.path().join("page.html"), 1280, 800, Scheme::Light);
    tab.wait("document.querySelector('.part:not([hidden]) .line') !== null");
    visit(&tab, "#table=history&q=build=3.wdb");
    tab.wait(&format!("{SHOWN}.querySelector('.tally').textContent.startsWith('1 of ')"));
    let row = lines(&tab)[0].join(" ");
    assert!(row.contains("3.wdb") && row.contains("u16HitPoints") && row.contains("40"), "{row}");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn the_page_of_a_damaged_file_begins_with_the_damage() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let (_, _, make) = FILES.iter().find(|(file, ..)| *file == "town.wdata").unwrap();
    let mut bytes = make(1, Size::Small);
    let shorter = bytes.len() - 300;
    bytes.truncate(shorter);
    fs::write(dir.path().join("cut.wdata"), bytes).unwrap();
    let (_, error) = run(dir.path(), 3, &["view", "cut.wdata", "--to", "page.html"]);
    let first = error.lines().next().unwrap().trim_start_matches("assetq: cut.wdata: ").to_owned();
    let tab = browser.open(&dir.path().join("page.html"), 1280, 800, Scheme::Light);
    tab.wait("!document.getElementById('loading')");
    assert_eq!(tab.eval("document.querySelector('main').firstElementChild.className"), "damage");
    let said = tab.eval("document.querySelector('.damage').innerText");
    assert!(
        said.as_str().unwrap().starts_with("This file is damaged") && said.as_str().unwrap().contains(&first),
        "{said}\n{error}"
    );
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn an_error_of_many_parts_is_said_once_with_a_count() {
    let dir = TempDir::new().unwrap();
    let mut geometry = assetq_sample::geometry::GeometryBuilder::new();
    let buffer = geometry.index_blob(2, b"ENCD, but no more".to_vec());
    let vertices = geometry.vertex_blob("set3/xyznuvpc", 20, vec![0; 60]);
    for id in 0..20 {
        let mapping = |buffer, count| assetq_sample::geometry::Mapping { id, buffer, density: 0, start: 0, count };
        geometry.vertex_mapping(mapping(vertices, 3));
        geometry.index_mapping(mapping(buffer, 3));
    }
    fs::write(dir.path().join("torn.geometry"), geometry.build()).unwrap();
    let (_, error) = run(dir.path(), 3, &["view", "torn.geometry", "--to", "page.html"]);
    let lines: Vec<&str> = error.lines().collect();
    let unlike: std::collections::BTreeSet<&str> = lines.iter().copied().collect();
    assert_eq!(lines.len(), unlike.len(), "{error}");
    assert!(lines.last().unwrap().starts_with("assetq: … and the same again "), "{error}");
}

#[test]
fn a_table_works_without_a_mouse_and_says_what_it_shows() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "assets.bin", Size::Small);
    let tab = view(&browser, dir.path(), "assets.bin", 1280, Scheme::Light);
    go(&tab, "table=resources");
    let grid = format!("{SHOWN}.querySelector('.grid')");
    tab.eval("document.activeElement.blur()");
    let tab_key = || {
        for kind in ["keyDown", "keyUp"] {
            tab.call(
                "Input.dispatchKeyEvent",
                json!({ "type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9 }),
            );
        }
    };
    let presses = (1..10).find(|_| {
        tab_key();
        tab.eval("document.activeElement.type") == "search"
    });
    assert!(presses.unwrap() <= 4, "{presses:?} presses of Tab to the filter");
    filter(&tab, "mfm");
    let rows = lines(&tab).len() as u64;
    assert_eq!(tab.eval(&format!("Number({grid}.getAttribute('aria-rowcount'))")), rows + 1);
    tab.key("ArrowDown");
    assert_eq!(tab.eval(&format!("document.activeElement === {grid}")), true);
    tab.key("ArrowDown");
    tab.wait(&format!("document.getElementById({grid}.getAttribute('aria-activedescendant')).dataset.at === '1'"));
    tab.eval(&format!("{SHOWN}.querySelector('[aria-controls]').click()"));
    tab.key("Escape");
    assert_eq!(tab.eval(&format!("{SHOWN}.querySelector('.choice').hidden")), true);
    // Columns share the room that an open row leaves them.
    tab.size(1900, 800);
    tab.wait(&format!("{grid}.clientWidth > 1500"));
    tab.eval("new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(() => next(0))))");
    let room = format!("{SHOWN}.querySelector('.head > span:nth-of-type(3)').offsetWidth");
    let before = tab.eval(&room);
    tab.eval(&format!("{grid}.focus()"));
    tab.key("Enter");
    tab.wait(&format!("{room} < {before}"));
    tab.key("Escape");
    tab.wait(&format!("{room} === {before}"));
    // The values of a column lead to the rows that have them.
    tab.eval(&format!("{SHOWN}.querySelector('.facets[aria-label=\"values of type\"]').click()"));
    tab.wait(&format!("{SHOWN}.querySelector('.facet') !== null"));
    tab.eval(&format!("{SHOWN}.querySelector('.facet').click()"));
    tab.wait("decodeURIComponent(location.hash).includes('mfm type=')");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_word_of_digits_is_found_in_ids() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "assets.bin", Size::Small);
    let tab = view(&browser, dir.path(), "assets.bin", 1280, Scheme::Light);
    // Ids of 64 and of 32 bits.
    for table in ["resources", "strings"] {
        go(&tab, &format!("table={table}"));
        let part = format!("assetq.page.parts.find((part) => part.id === 'table={table}').view");
        let id = tab.eval(&format!(
            "{part}.table.text({part}.table.columns.find(({{ name }}) => name === 'id').n, 3).toLowerCase()"
        ));
        let id = id.as_str().unwrap();
        for word in
            ["0x", &id[2..7], &id[id.len() - 4..], "0", "id:0x", &format!("id:{}", &id[4..8]), &format!("id={id}")]
        {
            tab.eval(&format!("({part}.input.value = {}, {part}.arrange())", json!(word)));
            let digits = word.trim_start_matches("id").trim_start_matches([':', '=']);
            let columns = if word.starts_with("id") { "[id]" } else { "v.shown" };
            let found = tab.eval(&format!(
                "(() => {{ const v = {part}; const id = v.table.columns.find(({{ name }}) => name === 'id').n; let count = 0; \
                 for (let row = 0; row < v.table.rows; row++) if ({columns}.some((n) => (v.table.text(n, row) ?? '').toLowerCase().includes('{digits}'))) count++; \
                 return [v.count, count]; }})()"
            ));
            assert!(found[0] == found[1] && found[0].as_u64().unwrap() > 0, "{table} {word}: {found}");
        }
    }
    assert_eq!(tab.errors(), [""; 0]);
}

/// Set `ASSETQ_AXE` to the path of `axe.min.js`, of the package axe-core.
#[test]
fn axe_finds_nothing_in_any_part_in_light_and_dark() {
    let Some(axe) = std::env::var_os("ASSETQ_AXE") else {
        eprintln!("skipped: ASSETQ_AXE names no axe.min.js");
        return;
    };
    let Some(browser) = Browser::start() else { return };
    let axe = fs::read_to_string(axe).unwrap();
    let dir = TempDir::new().unwrap();
    run(dir.path(), 0, &["sample", "all", "--seed", "1"]);
    fs::write(dir.path().join("old.wdb"), monsters(20)).unwrap();
    fs::write(dir.path().join("new.wdb"), monsters(30)).unwrap();
    // Tables, graphs, scenes, maps, folders, differences and histories.
    for args in [
        &["view", "all/assets.bin", "--to", "-"][..],
        &["view", "all/ship.geometry", "--with", "all/ship.splash", "--to", "-"],
        &["view", "all/town.wdata", "--to", "-"],
        &["view", "all/savegame.vrb", "--to", "-"],
        &["view", "all/wows", "--to", "-"],
        &["view", "all/hull_a.dds", "--to", "-"],
        &["diff", "old.wdb", "new.wdb", "-f", "html"],
        &["history", "m000003", "old.wdb", "new.wdb", "-f", "html"],
    ] {
        let (page, _) = run(dir.path(), i32::from(args[0] == "diff"), args);
        fs::write(dir.path().join("page.html"), page).unwrap();
        for (width, scheme) in [(1280, Scheme::Light), (1280, Scheme::Dark), (390, Scheme::Light)] {
            let tab = browser.open(&dir.path().join("page.html"), width, 800, scheme);
            tab.wait("!document.getElementById('loading')");
            tab.call("Runtime.evaluate", json!({ "expression": axe }));
            let parts: Vec<String> =
                serde_json::from_value(tab.eval("assetq.page.parts.map((part) => part.id)")).unwrap();
            for part in parts.iter().take(if width == 390 { 1 } else { 6 }) {
                for hash in [format!("#{part}"), format!("#{part}&row=0")] {
                    visit(&tab, &hash);
                    let found = tab.eval(
                        "axe.run().then(({ violations }) => violations.map((v) => `${v.id} ${v.nodes[0].html}`))",
                    );
                    assert_eq!(found, json!([]), "{args:?} {hash} {width} {scheme:?}");
                }
            }
        }
    }
}

/// The texels are in the other file: without it, the page lists the textures and is not damaged.
#[test]
fn a_page_shows_each_texture_of_a_file_if_its_texels_are_at_hand() {
    let dir = TempDir::new().unwrap();
    let (trb, imgb) = assetq_sample::worlds::ff13::icons();
    fs::write(dir.path().join("icons.trb"), trb).unwrap();
    let (page, said) = run(dir.path(), 0, &["view", "icons.trb", "--to", "-"]);
    assert!(!page.contains("\"id\":\"image-0\"") && said.contains("the .imgb file with the texels"), "{said}");
    fs::write(dir.path().join("icons.imgb"), imgb).unwrap();
    let (page, said) = run(dir.path(), 0, &["view", "icons.trb", "--to", "-"]);
    for row in 0..3 {
        assert!(page.contains(&format!("\"id\":\"image-{row}\"")), "{row} {said}");
    }
}
