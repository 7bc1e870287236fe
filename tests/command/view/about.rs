//! The first part of a page: what a file is, and where to begin.

use super::*;

/// The page over a sample, at its first part.
fn overview<'b>(browser: &'b Browser, dir: &Path, name: &str, width: u32, scheme: Scheme) -> Tab<'b> {
    run(dir, 0, &["view", name, "--to", "page.html", "--force"]);
    let tab = browser.open_first(&dir.join("page.html"), width, 900, scheme);
    tab.wait("!!document.querySelector('.overview')");
    tab
}

#[test]
fn the_first_part_of_a_file_says_what_it_is_and_leads_to_three_others() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "ship.geometry", Size::Small);
    let tab = overview(&browser, dir.path(), "ship.geometry", 1280, Scheme::Light);
    let text =
        |what: &str| tab.eval(&format!("document.querySelector('{what}').innerText")).as_str().unwrap().to_owned();
    assert_eq!(text(".overview .headline"), "Meshes, armour and collision hulls · World of Warships");
    assert!(text(".overview .verdict").starts_with("8 checks, nothing wrong: "), "{}", text(".overview .verdict"));
    assert_eq!(text(".overview .verdict code"), "assetq verify ship.geometry");
    let starts = tab.eval("[...document.querySelectorAll('.start b')].map((e) => e.innerText)");
    assert_eq!((&starts[0], starts.as_array().unwrap().len()), (&json!("Shapes in 3D"), 3), "{starts}");
    assert!(text(".start span").contains("mesh"), "{}", text(".start span"));
    // Tables that people look for come before the buffers that the file begins with.
    assert_eq!(starts, json!(["Shapes in 3D", "Render groups", "Armor plates"]));
    // Words come first, and the name of the table is at hand.
    let link = ".counts a[title=vertex_buffers]";
    assert!(text(link).ends_with("Vertex buffers"), "{}", text(link));
    tab.click(link);
    tab.wait("document.title === 'Vertex buffers · ship.geometry'");
    tab.eval("history.back()");
    tab.wait("document.title === 'ship.geometry'");
    tab.click(".start");
    tab.wait("location.hash === '#scene' || location.hash.startsWith('#scene&')");
    assert_eq!(tab.errors(), [""; 0]);
}

/// As in the page that has the whole command: the document of a frame may have no address of its own.
#[test]
fn a_page_in_a_frame_goes_from_part_to_part_without_an_address() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "ship.geometry", Size::Small);
    run(dir.path(), 0, &["view", "ship.geometry", "--to", "page.html"]);
    fs::write(dir.path().join("host.html"), "<!DOCTYPE html><iframe width=1200 height=800></iframe>").unwrap();
    let tab = browser.open_first(&dir.path().join("host.html"), 1280, 900, Scheme::Light);
    let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
    tab.eval(&format!("document.querySelector('iframe').srcdoc = {}", json!(page)));
    let frame = "document.querySelector('iframe').contentDocument";
    tab.wait(&format!("!!{frame}.querySelector('.overview')"));
    let click = |selector: &str| tab.eval(&format!("{frame}.querySelector({}).click()", json!(selector)));
    click(".counts a[title=vertex_buffers]");
    tab.wait(&format!("{frame}.title === 'Vertex buffers · ship.geometry'"));
    click("#parts-of-page a.about");
    tab.wait(&format!("{frame}.title === 'ship.geometry'"));
    assert_eq!(tab.eval(&format!("{frame}.location.href")), "about:srcdoc");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn the_first_part_of_a_damaged_file_names_the_faults() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let mut bytes = monsters(20);
    let len = bytes.len();
    bytes[len - 40..].fill(0xFF);
    fs::write(dir.path().join("bad.wdb"), bytes).unwrap();
    run(dir.path(), 3, &["verify", "bad.wdb"]);
    run(dir.path(), 3, &["view", "bad.wdb", "--to", "page.html"]);
    let tab = browser.open_first(&dir.path().join("page.html"), 1280, 800, Scheme::Light);
    tab.wait("!!document.querySelector('.verdict.fault')");
    let text = tab.eval("document.querySelector('.verdict').innerText");
    assert!(text.as_str().unwrap().contains(" found "), "{text}");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn the_first_part_of_a_game_counts_its_files_by_type() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    run(dir.path(), 0, &["sample", "all", "--seed", "1"]);
    let tab = overview(&browser, dir.path(), "all/wows", 1280, Scheme::Light);
    tab.shot("overview-game");
    let first = tab.eval("document.querySelector('.endings .facet span').innerText").as_str().unwrap().to_owned();
    let (rows, _) =
        run(dir.path(), 0, &["ls", "all/wows", "-w", &format!("path ~ '*.{first}'"), "-c", "id", "-f", "csv"]);
    let rows = rows.lines().count() as u64 - 1;
    let count = tab.eval("Number(document.querySelector('.endings .facet small').innerText.replaceAll(',', ''))");
    assert_eq!(count, rows);
    tab.click(".endings .facet");
    tab.wait(&format!("document.querySelector('.part:not([hidden]) .tally')?.textContent.startsWith('{} ')", rows));
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn every_format_has_an_overview_in_light_and_dark_and_on_a_phone() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    for (name, ..) in FILES {
        sample(dir.path(), name, Size::Small);
        for (width, scheme) in [(1280, Scheme::Light), (1920, Scheme::Dark), (390, Scheme::Dark)] {
            let tab = overview(&browser, dir.path(), name, width, scheme);
            tab.shot(&format!("overview-{name}-{width}"));
            assert_eq!(tab.eval("document.documentElement.scrollWidth <= innerWidth"), true, "{name} {width}");
            assert_eq!(tab.eval("document.querySelectorAll('.start').length > 0"), true, "{name}");
            let beyond = "[...document.querySelectorAll('.start')].filter((e) => e.getBoundingClientRect().right > innerWidth).length";
            assert_eq!(tab.eval(beyond), 0, "{name} {width}");
            assert_eq!(tab.errors(), [""; 0], "{name}");
        }
    }
}

/// The picture is drawn as the part itself is, and leads to it.
#[test]
fn the_first_part_shows_the_thing_itself() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    for (name, part) in
        [("ship.geometry", "scene"), ("ship.splash", "scene"), ("town.wdata", "map"), ("hull_a.dds", "image")]
    {
        sample(dir.path(), name, Size::Small);
        for (width, scheme) in [(1280, Scheme::Light), (390, Scheme::Dark)] {
            let tab = overview(&browser, dir.path(), name, width, scheme);
            tab.wait("document.querySelector('.overview figure')?.dataset.drawn === '1'");
            let colours = tab.eval(
                "(() => { const c = document.querySelector('.still canvas'); const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height); \
                 return new Set(new Uint32Array(data.buffer)).size; })()",
            );
            assert!(colours.as_u64().unwrap() > 5, "{name}: {colours}");
            // A scene is drawn in the form of its frame, also on a phone.
            let forms = "(() => { const c = document.querySelector('.still canvas'), { clientWidth, clientHeight } = c.parentElement; return c.width / c.height / (clientWidth / clientHeight); })()";
            let form = tab.eval(forms).as_f64().unwrap();
            assert!(part == "image" || (0.95..1.05).contains(&form), "{name} {width}: {form}");
            assert_eq!(tab.eval("document.querySelectorAll('main > .part:not([hidden])').length"), 1, "{name}");
            assert_eq!(tab.eval("document.documentElement.scrollWidth <= innerWidth"), true, "{name} {width}");
            tab.shot(&format!("still-{name}-{width}"));
            tab.click(".still");
            tab.wait(&format!("location.hash.startsWith('#{part}')"));
            tab.wait("document.querySelector('.part:not([hidden]) canvas')?.clientWidth > 100");
            assert_eq!(tab.errors(), [""; 0], "{name}");
        }
    }
}
