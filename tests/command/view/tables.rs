//! Features of tables beside rows: pinned and hidden columns, sums, dates, paths, and ways to take rows.

use super::exact::open;
use super::*;
use assetq::table::{Column, DeclaredTable, Kind, Table, Value as Cell};

/// Rows of texts, amounts and times.
fn log(count: u64) -> Box<dyn Table> {
    let len = usize::try_from(count).unwrap();
    let table = DeclaredTable::new("log_lines", move || Ok(len), move |row| Ok((row < len).then_some(row as u64)))
        .column(Column::text("name"), |row| {
            Ok(Cell::owned(if *row == 7 { "x".repeat(900) } else { format!("name {row}") }))
        })
        .column(Column::text("text"), |row| {
            Ok(Cell::text(
                ["damage per second (min/max) of all", "content/ship/hull_a.dds", "say \"yes\" now"]
                    [(*row % 3) as usize],
            ))
        })
        .column(Column::uint("amount"), |row| Ok((u64::from(u32::MAX) + row).into()))
        .column(Column::uint("modified"), |row| Ok((638_000_000_000_000_000 + row * 10_000_000).into()))
        .column(Column::uint("saved_time"), |row| Ok((1_700_000_000 + row).into()));
    Box::new(table.random_access())
}

/// Opens the values of a column.
fn profile(tab: &Tab<'_>, column: &str) {
    tab.eval(&format!("document.querySelector('.part:not([hidden]) [aria-label=\"values of {column}\"]').click()"));
    tab.wait("document.querySelector('.part:not([hidden]) .profile .acts') !== null");
}

#[test]
fn columns_are_as_wide_as_most_of_their_texts_and_are_pinned_and_hidden() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let tab = open(&browser, dir.path(), &[log(100)]);
    tab.wait("document.querySelectorAll('.line').length > 20");
    let heads =
        || tab.eval("[...document.querySelectorAll('.head > span')].slice(1).map((e) => e.firstChild.textContent)");
    assert_eq!(heads(), json!(["name", "text", "amount", "modified", "saved_time"]));
    let width = tab.eval("assetq.page.parts[0].view.table.columns[0].width").as_u64().unwrap();
    assert_eq!(width, 7, "one long text of a hundred makes no column wide");
    profile(&tab, "amount");
    tab.eval("document.querySelector('.profile .pin').click()");
    assert_eq!(heads(), json!(["amount", "name", "text", "modified", "saved_time"]));
    tab.wait("document.querySelectorAll('.line .frozen').length > 20");
    tab.eval("document.querySelector('.profile .pin').click()");
    assert_eq!(heads()[0], "name");
    tab.eval("document.querySelector('.profile .hide').click()");
    assert_eq!(heads(), json!(["name", "text", "modified", "saved_time"]));
    assert_eq!(tab.eval("[...document.querySelectorAll('.choice label')].find((e) => e.innerText.trim() === 'amount')?.querySelector('input').checked ?? false"), false);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn numbers_have_sums_dates_and_thousands_and_only_paths_are_paths() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let tab = open(&browser, dir.path(), &[log(100)]);
    tab.wait("document.querySelectorAll('.line').length > 20");
    tab.wait("document.querySelectorAll('.date').length > 20");
    let first = lines(&tab)[0].clone();
    assert_eq!(
        first[2..],
        ["4,294,967,295", "6380000000000000002022-09-28 22:13:20 UTC", "17000000002023-11-14 22:13:20 UTC"]
    );
    // A sentence with a slash is no path.
    assert_eq!(tab.eval("[...document.querySelectorAll('.line')].slice(0, 3).map((line) => line.querySelectorAll('.path-cell').length)"), json!([0, 1, 0]));
    profile(&tab, "amount");
    let facts = tab.eval("document.querySelectorAll('.profile .facts p')[1].innerText");
    let sum: u64 = (0..100).map(|row| u64::from(u32::MAX) + row).sum();
    assert_eq!(sum, 429_496_734_450);
    assert!(facts.as_str().unwrap().ends_with("sum 429,496,734,450"), "{facts}");
    // A value with quotes is found by its facet.
    profile(&tab, "text");
    tab.eval("[...document.querySelectorAll('.facet')].find((e) => e.innerText.includes('say')).click()");
    tab.wait("document.querySelector('.tally').textContent === '33 of 100'");
    tab.wait("[...document.querySelectorAll('.line')].every((line) => line.innerText.includes('say \"yes\" now'))");
    tab.shot("table-dates");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn values_of_several_columns_are_chosen_and_each_choice_is_a_step_back() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let words = |words: &'static [&'static str]| move |row: &u64| Ok(Cell::text(words[*row as usize % words.len()]));
    let table = DeclaredTable::new("ships", || Ok(60), |row| Ok((row < 60).then_some(row as u64)))
        .column(Column::text("nation").brief(), words(&["Japan", "USA", "U.S.S.R. | Russia"]))
        .column(Column::text("species").brief(), words(&["Cruiser", "Destroyer"]))
        .column(Column::uint("tier").brief(), |row| Ok((*row % 10 + 1).into()));
    let tab = open(&browser, dir.path(), &[Box::new(table.random_access())]);
    profile(&tab, "nation");
    profile(&tab, "species");
    // The count of a value, as the other columns leave it.
    let count = |value: &str| {
        format!(
            "[...document.querySelectorAll('.profile .facet')].find((e) => e.querySelector('span').textContent === '{value}')?.querySelector('small').textContent"
        )
    };
    let pick = |value: &str| {
        tab.eval(&format!("[...document.querySelectorAll('.profile .facet')].find((e) => e.querySelector('span').textContent === '{value}').click()"));
    };
    let rows = |rows: &str| tab.wait(&format!("document.querySelector('.tally').textContent === '{rows}'"));
    tab.wait(&format!("{} === '20' && {} === '30'", count("Japan"), count("Cruiser")));
    pick("Japan");
    rows("20 of 60");
    tab.wait(&format!("{} === '10' && {} === '20'", count("Cruiser"), count("USA")));
    pick("U.S.S.R. | Russia");
    rows("40 of 60");
    pick("Cruiser");
    rows("20 of 60");
    assert_eq!(
        tab.eval("document.querySelector('.bar input[type=search]').value"),
        "nation=Japan|\"U.S.S.R. | Russia\" species=Cruiser"
    );
    tab.wait("decodeURIComponent(location.hash).endsWith('&facets=nation,species')");
    tab.shot("table-facets");
    // The address shows all of it again.
    super::reload(&tab);
    rows("20 of 60");
    tab.wait("document.querySelectorAll('.profile section').length === 2 && document.querySelectorAll('.facet[aria-pressed=true]').length === 3");
    for before in ["40 of 60", "20 of 60", "60 rows"] {
        tab.eval("history.back()");
        rows(before);
    }
    // A word that is typed is one step, and so is an order.
    tab.eval("document.querySelector('.bar input[type=search]').focus()");
    for letter in ["t", "i", "e", "r", "=", "7"] {
        tab.text(letter);
        tab.eval("new Promise((next) => setTimeout(next, 150))");
    }
    rows("6 of 60");
    tab.wait("location.hash.includes('tier')");
    tab.eval("history.back()");
    rows("60 rows");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_condition_is_chosen_from_lists() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let tab = open(&browser, dir.path(), &[log(100)]);
    tab.wait("document.querySelectorAll('.line').length > 20");
    let add = |column: &str, operator: &str, value: &str| {
        tab.eval(&format!(
            "(() => {{ const [column, how] = document.querySelectorAll('[aria-label=\"a condition on a column\"] select'); \
             const choose = (list, text) => {{ list.value = [...list.options].find((one) => one.text === text).value; list.dispatchEvent(new Event('change')); }}; \
             choose(column, '{column}'); choose(how, '{operator}'); document.querySelector('[aria-label=value]').value = {}; }})()",
            json!(value)
        ));
        tab.eval("[...document.querySelectorAll('[aria-label=\"a condition on a column\"] button')].at(-1).click()");
    };
    tab.click(".condition");
    add("amount", "is at least", "4,294,967,305");
    add("text", "does not contain", "say \"yes\"");
    assert_eq!(
        tab.eval("document.querySelector('.bar input[type=search]').value"),
        "amount>=4,294,967,305 -text:\"say \"\"yes\"\"\""
    );
    tab.wait("document.querySelector('.tally').textContent === '60 of 100'");
    add("name", "is empty", "");
    tab.wait("document.querySelector('.tally').textContent === '0 of 100'");
    tab.shot("table-condition");
    let floats = tab
        .eval("[...document.querySelectorAll('[aria-label=operator] option')].map((e) => e.text).includes('is above')");
    assert_eq!(floats, true);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn rows_are_taken_from_one_menu_and_a_link_names_its_filter() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let tab = open(&browser, dir.path(), &[log(5)]);
    tab.wait("document.querySelectorAll('.line').length === 5");
    filter(&tab, "amount>=4294967298 -name:x");
    let take = |what: &str| {
        tab.eval("globalThis.copied = null, 0");
        tab.click(".take");
        tab.shot("table-take");
        tab.click(&format!(".ways .{what}"));
        tab.wait("copied !== null");
        tab.eval("copied").as_str().unwrap().to_owned()
    };
    let markdown = take("copy-md");
    let rows: Vec<&str> = markdown.lines().collect();
    assert_eq!(rows[0], "| name | text | amount | modified | saved\\_time |");
    assert_eq!(rows[1], "| --- | --- | ---: | ---: | ---: |");
    assert_eq!(
        rows[2],
        "| name 3 | damage per second (min/max) of all | 4294967298 | 638000000030000000 | 1700000003 |"
    );
    assert_eq!(rows.len(), 4);
    let found: Value = serde_json::from_str(&take("copy-json")).unwrap();
    assert_eq!((found.as_array().unwrap().len(), &found[0]["amount"]), (2, &json!(4_294_967_298_u64)));
    assert!(take("copy").starts_with("name,text,amount,modified,saved_time\r\n"));
    tab.wait("location.hash.includes('q=')");
    let link = take("copy-link");
    assert!(
        link.starts_with("[Log lines: amount is at least 4294967298 and not: name contains \"x\"](file:///"),
        "{link}"
    );
    assert!(link.ends_with("page.html#table=log_lines&q=amount%3E%3D4294967298%20-name%3Ax)"), "{link}");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_table_of_400_columns_and_one_of_five_million_rows_open_and_scroll() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let mut wide = DeclaredTable::new("wide", || Ok(2000), |row| Ok((row < 2000).then_some(row as u64)));
    for n in 0..400u64 {
        wide = wide
            .column(Column::new(&*format!("column_{n}").leak(), Kind::Uint), move |row| Ok((row * n % 1000).into()));
    }
    const MANY: usize = 5_000_000;
    let long = DeclaredTable::new("long", || Ok(MANY), |row| Ok((row < MANY).then_some(row as u64)))
        .column(Column::new("half", Kind::Uint), |row| Ok((row / 2).into()));
    let tab = open(&browser, dir.path(), &[Box::new(wide.random_access()), Box::new(long.random_access())]);
    go(&tab, "table=wide");
    let cell = |text: &str| {
        format!(
            "[...document.querySelectorAll('.part:not([hidden]) [role=gridcell]')].some((e) => e.textContent === '{text}')"
        )
    };
    let scroll = |to: &str| {
        tab.eval(&format!("(() => {{ const e = document.querySelector('.part:not([hidden]) .grid'); {to} }})()"))
    };
    scroll("e.scrollLeft = e.scrollWidth; e.scrollTop = e.scrollHeight;");
    tab.wait(&cell(&(1999 * 399 % 1000).to_string()));
    let laid = tab.eval("document.querySelectorAll('.part:not([hidden]) [role=gridcell]').length").as_u64().unwrap();
    assert!(laid < 2000, "{laid} cells are laid out");
    go(&tab, "table=long");
    tab.wait("document.querySelector('.part:not([hidden]) .tally').textContent === '5,000,000 rows'");
    scroll("e.focus();");
    tab.key("End");
    tab.wait(&cell("2,499,999"));
    filter(&tab, "half=1234567");
    assert_eq!(tab.eval("document.querySelector('.part:not([hidden]) .tally').textContent"), "2 of 5,000,000");
    assert_eq!(tab.errors(), [""; 0]);
}
