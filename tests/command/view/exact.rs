//! Numbers of 64 bits, values of several kinds, cells that are long, and blocks that are damaged.

use super::*;
use assetq::table::{Column, DeclaredTable, Kind, Table, Value as Cell};
use assetq_view::page::{Page, tables};

/// The page over `tables`, opened.
pub(super) fn open<'b>(browser: &'b Browser, dir: &Path, tables: &[Box<dyn Table + '_>]) -> Tab<'b> {
    write(dir, tables);
    open_page(browser, dir)
}

fn open_page<'b>(browser: &'b Browser, dir: &Path) -> Tab<'b> {
    let tab = browser.open(&dir.join("page.html"), 1280, 800, Scheme::Light);
    tab.wait("!document.getElementById('loading')");
    tab.eval("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }, 0");
    tab
}

fn write(dir: &Path, tables: &[Box<dyn Table + '_>]) {
    let mut out = Vec::new();
    let mut page = Page::new(&mut out, "made", "").unwrap();
    let mut met = |errors: Vec<assetq::Error>, _| panic!("{errors:?}");
    tables::add(tables::TableLimits::SHOWN, &mut page, tables, false, "made.bin", &mut met).unwrap();
    page.finish().unwrap();
    fs::write(dir.join("page.html"), out).unwrap();
}

/// A table of one column whose cells are these.
fn column(name: &'static str, kind: Kind, cells: Vec<Cell<'static>>) -> Box<dyn Table> {
    let count = cells.len();
    let table = DeclaredTable::new(name, move || Ok(count), move |row| Ok((row < count).then_some(row)))
        .column(Column::uint("at"), |row| Ok((*row as u64).into()))
        .column(Column::new("value", kind), move |row| Ok(cells[*row].clone()));
    Box::new(table.random_access())
}

/// The number of rows that a filter leaves.
fn found(tab: &Tab<'_>, table: &str, query: &str) -> u64 {
    tab.eval(&format!(
        "(async () => {{ const table = assetq.tableOf(assetq.page.parts.find((part) => part.id === 'table={table}'), assetq.page); \
         const {{ tests, faults }} = assetq.parse({}, table); if (faults.length) throw new Error(faults[0]); \
         return (await assetq.filter(table, tests, table.columns.map(({{ n }}) => n), () => true)).length; }})()",
        json!(query)
    ))
    .as_u64()
    .unwrap()
}

const TOP: u64 = 1 << 63;

#[test]
fn numbers_of_64_bits_are_filtered_and_put_in_order_exactly() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    // A double cannot tell them apart.
    let wide = [TOP + 2, TOP, TOP + 3, TOP + 1];
    let mut cells: Vec<Cell<'static>> = wide.iter().map(|number| Cell::Uint(*number)).collect();
    cells.push(Cell::Null);
    let mixed = [cells.clone(), vec![Cell::text("other")]].concat();
    let tab = open(&browser, dir.path(), &[column("wide", Kind::Uint, cells), column("mixed", Kind::Any, mixed)]);
    for table in ["wide", "mixed"] {
        for (query, expected) in [
            (format!("value={}", TOP + 1), 1),
            (format!("value>{TOP}"), 3),
            (format!("value<={}", TOP + 1), 2),
            (format!("value>0x{:x}", TOP + 2), 1),
            (format!("value!={TOP}"), if table == "wide" { 3 } else { 4 }),
        ] {
            assert_eq!(found(&tab, table, &query), expected, "{table} {query}");
        }
        tab.eval(&format!("assetq.page.go('table={table}', {{ sort: 'value' }})"));
        let order = format!(
            "[...document.querySelectorAll('.part:not([hidden]) .line .gutter')].map((e) => e.textContent).join() === {}",
            json!(if table == "wide" { "1,3,0,2,4" } else { "1,3,0,2,5,4" })
        );
        tab.wait(&order);
    }
    go(&tab, "table=wide");
    tab.eval("document.querySelector('.part:not([hidden]) .facets[aria-label=\"values of value\"]').click()");
    let span = format!("from {TOP} to {}", TOP + 3);
    tab.wait(&format!("document.querySelector('.part:not([hidden]) .facts').textContent.includes({})", json!(span)));
    assert_eq!(tab.errors(), [""; 0]);
}

/// The rule of docs/guide/viewing.md, in the page and by `--where`.
#[test]
fn a_page_and_where_have_one_rule_for_nulls_and_kinds() {
    use assetq::table::filter::Filter;
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let any = vec![Cell::Uint(5), Cell::text("cruiser"), Cell::Null, Cell::Bool(true), Cell::F32(0.5), Cell::text("5")];
    let text = vec![Cell::text("cruiser"), Cell::Null, Cell::text("destroyer"), Cell::text("12")];
    let float = vec![Cell::F32(0.1), Cell::F32(0.25), Cell::Null];
    let tables = [column("any", Kind::Any, any), column("text", Kind::Text, text), column("float", Kind::F32, float)];
    let tab = open(&browser, dir.path(), &tables);
    for (table, condition) in [
        ("any", "value > 0"),
        ("any", "value <= 5"),
        ("any", "value = 5"),
        ("any", "value != 5"),
        ("any", "value != cruiser"),
        ("any", "value = true"),
        ("text", "value != cruiser"),
        ("text", "value = cruiser"),
        ("text", "value > cruiser"),
        ("text", "value < 2"),
        ("text", "value = Cruiser"),
        ("text", "value != CRUISER"),
        ("text", "value < D"),
        ("any", "value = Cruiser"),
        ("any", "value = TRUE"),
        ("float", "value > 0.1"),
        ("float", "value >= 0.1"),
        ("float", "value != 0.25"),
    ] {
        let (column, rest) = condition.split_once(' ').unwrap();
        let (op, literal) = rest.split_once(' ').unwrap();
        let filter = Filter::parse(&format!("{column} {op} '{literal}'")).unwrap();
        let rows = tables.iter().find(|made| made.name() == table).unwrap();
        let bound = filter.bind(rows.columns()).unwrap();
        let mut cursor = rows.cursor(0);
        let mut expected = 0;
        while cursor.advance().unwrap() {
            expected += u64::from(bound.matches(&*cursor).unwrap());
        }
        assert_eq!(found(&tab, table, &condition.replace(' ', "")), expected, "{table}: {condition}");
    }
    assert_eq!((found(&tab, "text", "-value=cruiser"), found(&tab, "text", "value=")), (3, 1), "with the null");
}

/// A click on a bar or a value of a column shows the rows that it counts, whatever the digits of its bounds.
#[test]
fn every_bar_and_value_of_a_column_shows_the_rows_that_it_counts() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let wide = (0..100).map(|n| Cell::Uint(TOP + n * n)).collect();
    let few = [1, 1, 2, 5].map(Cell::Int).to_vec();
    let tenths = (0..300).map(|n| Cell::F32(n as f32 / 10.0 - 3.7)).collect();
    let thirds = (0..300).map(|n| Cell::F64(f64::from(n) / 3.0)).collect();
    let texts = ["Iowa", "iowa", "5\" gun", "a b", "", "-x", "x=5"].map(Cell::text).into_iter().chain([Cell::Null]);
    let tables = [
        column("wide", Kind::Uint, wide),
        column("few", Kind::Int, few),
        column("tenths", Kind::F32, tenths),
        column("thirds", Kind::F64, thirds),
        column("texts", Kind::Text, texts.collect()),
    ];
    let tab = open(&browser, dir.path(), &tables);
    for (table, rows) in [("wide", 100), ("few", 4), ("tenths", 300), ("thirds", 300), ("texts", 7)] {
        go(&tab, &format!("table={table}"));
        tab.eval("document.querySelector('.part:not([hidden]) [aria-label=\"values of value\"]').click()");
        tab.wait("document.querySelector('.part:not([hidden]) .profile .acts') !== null");
        let bars = |what: &str| {
            let js = format!(
                "(async () => {{ const part = document.querySelector('.part:not([hidden])'), view = assetq.page.parts.find((one) => one.element === part).view; \
                 const all = []; for (const bar of part.querySelectorAll('{what}')) {{ view.input.value = ''; bar.click(); clearTimeout(view.pause); await view.arrange(); \
                 all.push([parseInt((bar.querySelector('small')?.textContent ?? bar.getAttribute('aria-label')).replaceAll(',', '')), view.count, view.query]); }} return all; }})()"
            );
            let all: Vec<(u64, u64, String)> = serde_json::from_value(tab.eval(&js)).unwrap();
            for (counted, shown, query) in &all {
                assert_eq!(counted, shown, "{table}: {query}");
            }
            all.iter().map(|(counted, ..)| counted).sum::<u64>()
        };
        if table != "texts" {
            assert_eq!(bars(".histogram button"), rows, "{table}: each row is in one bar");
        }
        if table == "few" || table == "texts" {
            assert_eq!(bars(".profile .facet"), rows, "{table}: each row has one value");
        }
    }
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_cell_without_a_text_is_found_whether_some_or_all_ids_lack_one() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let table = |name: &'static str, known: u64| -> Box<dyn Table> {
        let table = DeclaredTable::new(name, || Ok(10), |row| Ok((row < 10).then_some(row as u64)))
            .column(Column::id64("id").key(), |row| Ok(Cell::Id64(row * 77 + 5)))
            .column(Column::text("path").resolved(), move |row| {
                Ok(if *row < known { Cell::owned(format!("content/{row}.dds")) } else { Cell::Null })
            });
        Box::new(table.random_access())
    };
    let tab = open(&browser, dir.path(), &[table("none", 0), table("some", 4)]);
    for (name, known) in [("none", 0), ("some", 4)] {
        assert_eq!(found(&tab, name, "path="), 10 - known, "{name}");
        assert_eq!(found(&tab, name, "path!="), known, "{name}");
        assert_eq!(found(&tab, name, "-path="), known, "{name}");
        assert_eq!(found(&tab, name, "path=\"\""), 0, "no text is empty");
    }
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn saved_json_has_the_kinds_and_digits_of_the_file() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let cells = vec![
        Cell::Bool(true),
        Cell::text("true"),
        Cell::Uint(4_179_506_384),
        Cell::text("4179506384"),
        Cell::Uint(u64::MAX),
        Cell::F32(0.1),
        Cell::Id64(7),
        Cell::List(vec![Cell::Uint(1), Cell::text("a")]),
        Cell::Null,
    ];
    let tab = open(&browser, dir.path(), &[column("mixed", Kind::Any, cells)]);
    tab.eval("assetq.page.save = async (name, blob) => { globalThis.saved = await blob.text(); }, 0");
    tab.wait("document.querySelector('.line') !== null");
    tab.eval("document.querySelector('.save-json').click()");
    tab.wait("!!globalThis.saved");
    let values = [
        "true",
        "\"true\"",
        "4179506384",
        "\"4179506384\"",
        "18446744073709551615",
        "0.1",
        "\"0x0000000000000007\"",
        "[1,\"a\"]",
        "null",
    ];
    let lines: Vec<String> =
        values.iter().enumerate().map(|(at, value)| format!("{{\"at\":{at},\"value\":{value}}}")).collect();
    assert_eq!(tab.eval("saved").as_str().unwrap(), format!("[\n{}\n]\n", lines.join(",\n")));
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_page_of_one_row_has_at_most_90_kilobytes() {
    let dir = TempDir::new().unwrap();
    write(dir.path(), &[column("one", Kind::Uint, vec![Cell::Uint(1)])]);
    let size = fs::metadata(dir.path().join("page.html")).unwrap().len();
    assert!(size <= 90_000, "{size}");
}

#[test]
fn a_printed_table_is_whole_or_says_that_it_is_not() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let texts = |count| (0..count).map(|n| Cell::owned(format!("word {n}"))).collect();
    let tab =
        open(&browser, dir.path(), &[column("few", Kind::Text, texts(300)), column("many", Kind::Text, texts(2500))]);
    let part = "document.querySelector('.part:not([hidden])')";
    for (table, rows, note) in
        [("few", 300, None), ("many", 2000, Some("The first 2,000 of 2,500 rows: Save CSV takes all of them."))]
    {
        go(&tab, &format!("table={table}"));
        tab.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
        tab.eval("(async () => { globalThis.print = () => dispatchEvent(new Event('beforeprint')); dispatchEvent(new KeyboardEvent('keydown', { key: 'p', ctrlKey: true })); })()");
        tab.wait(&format!("{part}.querySelectorAll('.printed tbody tr').length === {rows}"));
        let heads = tab.eval(&format!("[...{part}.querySelectorAll('.printed th')].map((e) => e.textContent)"));
        assert_eq!(heads, json!(["#", "at", "value"]));
        assert_eq!(tab.eval(&format!("{part}.querySelector('.printed caption')?.textContent ?? null")), json!(note));
        // No heading lies on a cell, and nothing that scrolls is printed.
        let overlap = format!(
            "(() => {{ const [, at, value] = [...{part}.querySelectorAll('.printed th')].map((e) => e.getBoundingClientRect()); \
            return at.right > value.left + 1 || {part}.querySelector('.grid').checkVisibility(); }})()"
        );
        assert_eq!(tab.eval(&overlap), false);
        tab.call("Emulation.setEmulatedMedia", json!({ "media": "" }));
        tab.eval("dispatchEvent(new Event('afterprint'))");
        assert_eq!(tab.eval(&format!("{part}.querySelectorAll('.printed tr').length")), 0);
    }
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_cell_of_ten_megabytes_is_shown_in_part_and_whole_on_demand() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let long: String = "0123456789".repeat(1 << 20);
    let length = long.len();
    let tab = open(&browser, dir.path(), &[column("texts", Kind::Text, vec![Cell::owned(long), Cell::text("short")])]);
    tab.wait("document.querySelector('.line') !== null");
    tab.eval("assetq.page.go('table=texts', { row: 0 })");
    tab.wait("!!document.querySelector('.detail .long')");
    let shown = "document.querySelector('.detail .long').textContent.length";
    assert!(tab.eval(shown).as_u64().unwrap() < 100_100, "{}", tab.eval(shown));
    assert_eq!(
        tab.eval("document.querySelector('.detail .long button').textContent"),
        "… show all 10,485,760 characters"
    );
    tab.eval("[...document.querySelectorAll('.detail [title=\"copy value\"]')][0].click()");
    tab.wait("!!globalThis.copied");
    assert_eq!(tab.eval("copied.length"), length);
    let began = std::time::Instant::now();
    tab.click(".detail .long button");
    tab.wait(&format!("{shown} === {length}"));
    tab.eval("new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(() => next(0))))");
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    assert_eq!(tab.errors(), [""; 0]);
}

/// Makes a block of the page at hand undecodable.
fn damage(dir: &Path, name: &str) {
    let page = fs::read_to_string(dir.join("page.html")).unwrap();
    let (before, rest) = page.split_once(&format!("id=\"b:{name}\">")).unwrap();
    let (block, after) = rest.split_once("</script>").unwrap();
    let cut = &block[..block.len() / 8 * 4];
    fs::write(dir.join("page.html"), format!("{before}id=\"b:{name}\">{cut}</script>{after}")).unwrap();
}

#[test]
fn a_damaged_block_is_named_where_it_is_missing() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let words = |name| column(name, Kind::Text, (0..500).map(|n| Cell::owned(format!("word {n}"))).collect());
    write(dir.path(), &[words("sound"), words("torn")]);
    damage(dir.path(), "t1.0.1");
    let tab = open_page(&browser, dir.path());
    tab.eval("assetq.page.go('table=torn')");
    let part = "document.querySelector('.part:not([hidden])')";
    // The other column is shown.
    tab.wait(&format!("!!{part}.querySelector('.failed') && !!{part}.querySelector('.line .fault')"));
    let said = "This is not complete: column value cannot be decoded: block t1.0.1 of this page is damaged.";
    assert_eq!(tab.eval(&format!("{part}.querySelector('.failed').textContent")), said);
    assert_eq!(tab.eval(&format!("{part}.querySelectorAll('.failed').length")), 1);
    let search = "document.querySelector('.part:not([hidden]) input[type=search]')";
    tab.eval(&format!(
        "(() => {{ {search}.focus(); {search}.value = 'word'; {search}.dispatchEvent(new Event('input')); }})()"
    ));
    tab.wait(&format!("!{part}.querySelector('.query').hidden"));
    assert_eq!(
        tab.eval(&format!("{part}.querySelector('.query').textContent")),
        "The rows cannot be filtered or put in order: block t1.0.1 of this page is damaged"
    );
    assert_eq!(tab.eval(&format!("{part}.querySelector('.tally').textContent")), "500 rows");
    // A row, the values of the column, and what is saved.
    tab.eval("assetq.page.go('table=torn', { row: 3 })");
    tab.wait(&format!(
        "!{part}.querySelector('.detail').hidden && {part}.querySelector('.detail dl').textContent.includes('at')"
    ));
    tab.eval(&format!("{part}.querySelector('.facets[aria-label=\"values of value\"]').click()"));
    tab.wait(&format!("!!{part}.querySelector('.facts .failed')"));
    tab.eval(&format!("{part}.querySelector('.save-json').click()"));
    tab.wait(&format!("{part}.querySelectorAll(':scope > .failed').length === 2"));
    // A search over all tables ends, with what the others have.
    tab.eval("assetq.page.go('search', { q: 'word' })");
    tab.wait(&format!("{part}.querySelector('.tally').textContent === '500 rows in 1 tables'"));
    let said = "This is not complete: torn cannot be searched: block t1.0.1 of this page is damaged.";
    assert_eq!(tab.eval(&format!("{part}.querySelector('.found .failed').textContent")), said);
    assert_eq!(tab.errors(), [""; 0]);
}

/// Every block of every kind of page, one by one: the part that needs it ends in a message, or needs no such block yet.
#[test]
fn no_damaged_block_leaves_a_part_without_a_word() {
    let Some(browser) = Browser::start() else { return };
    for name in ["savegame.vrb", "ship.geometry", "town.wdata", "hull_a.dds"] {
        let dir = TempDir::new().unwrap();
        sample(dir.path(), name, Size::Small);
        run(dir.path(), 0, &["view", name, "--to", "page.html"]);
        let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
        let blocks: Vec<&str> = page
            .split("id=\"b:")
            .skip(1)
            .map(|rest| rest.split_once('"').unwrap().0)
            .filter(|block| !block.starts_with('t'))
            .collect();
        assert!(!blocks.is_empty(), "{name}");
        blocks.iter().for_each(|block| damage(dir.path(), block));
        let tab = open_page(&browser, dir.path());
        let kinds = ["tree", "scene", "map", "image"].map(|kind| format!("part.kind === '{kind}'")).join(" || ");
        let parts = tab.eval(&format!("assetq.page.parts.filter((part) => {kinds}).map((part) => part.id)"));
        for part in parts.as_array().unwrap() {
            tab.eval(&format!("assetq.page.go({part})"));
            tab.wait("/damaged/.test(document.querySelector('.part:not([hidden])')?.textContent)");
        }
        assert_eq!(tab.errors(), [""; 0], "{name}");
    }
}
