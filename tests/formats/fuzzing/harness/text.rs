//! Texts of users: SQL, conditions, patterns, ids, addresses, patches.

use super::ask;
use super::input::{any, rest_as_text};
use super::models;
use arbitrary::Unstructured;
use assetq::edit::read as changes;
use assetq::formats::id;
use assetq::query::archive::Address;
use assetq::query::archive::names::NameSources;
use assetq::query::find;
use assetq::query::find::{Pattern, Syntax};
use assetq::sql::{Input, Session, is_complete, statements};
use assetq::table::filter::Filter;
use assetq::table::glob::Glob;
use assetq::{Asset, Format, Options, Source};
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let open = |model: &models::Model| Asset::open(Source::from_vec(model.name, model.bytes.clone())).unwrap();
    models::all().iter().take(9).map(open).collect()
});

pub fn text(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let (kind, which) = (any::<u8>(&mut u), any::<u8>(&mut u));
    let asset = &ASSETS[usize::from(which) % ASSETS.len()];
    let text = rest_as_text(&mut u);
    match kind % 8 {
        0..=2 => condition(asset, &text),
        3 | 4 => sql(asset, &text),
        5 => pattern(asset, &text, which),
        6 => {
            id::parse(&text);
            id::parse32(&text);
            id::of_path(&text);
            let address = Address::parse(Path::new(&text));
            address.inner();
            address.build();
            let mut names = NameSources::default();
            names.add_lines(&text).unwrap();
            for setting in ["key", "fields", "type", "game", "types"] {
                let _ = Format::configure(setting, text.as_bytes(), "FILE", &Options::default());
            }
        }
        _ => {
            if let Ok(value) = changes::value(&text) {
                let _ = assetq::write::json::to_string(&value);
            }
        }
    }
}

/// A condition that is understood shows itself as one that means the same.
fn condition(asset: &Asset, text: &str) {
    let Ok(filter) = Filter::parse(text) else { return };
    for table in asset.reader().tables() {
        let Ok(bound) = filter.bind(table.columns()) else { continue };
        let mut rows = table.cursor(0);
        for _ in 0..40 {
            if !rows.advance().unwrap() {
                break;
            }
            let _ = bound.matches(&*rows);
        }
    }
}

type Stopper = Box<dyn Fn() + Send>;

/// Statements that run for longer than this are stopped, as nothing else ends `WITH RECURSIVE`.
const STATEMENT: Duration = Duration::from_millis(300);

/// The statement that runs, for the thread that stops it.
fn running() -> &'static Mutex<Option<(Instant, Stopper)>> {
    static RUNNING: Mutex<Option<(Instant, Stopper)>> = Mutex::new(None);
    static WATCH: LazyLock<()> = LazyLock::new(|| {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(STATEMENT / 4);
                let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((since, stop)) = &*running
                    && since.elapsed() > STATEMENT
                {
                    stop();
                }
            }
        });
    });
    LazyLock::force(&WATCH);
    &RUNNING
}

fn sql(asset: &Asset, text: &str) {
    is_complete(text);
    let ends: Vec<usize> = statements(text).map(|statement| statement.start + statement.text.len()).collect();
    assert!(ends.is_sorted() && ends.last().is_none_or(|end| *end <= text.len()));
    let session = Session::new(vec![("f".to_owned(), Input::Asset(asset.clone()))], false).unwrap();
    let stopper = Box::new(session.stopper());
    *running().lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), stopper));
    let _ = ask::run(&session, text);
    *running().lock().unwrap_or_else(PoisonError::into_inner) = None;
}

fn pattern(asset: &Asset, text: &str, bits: u8) {
    if let Ok(glob) = Glob::new(text, bits & 1 == 0) {
        glob.is_match(text);
        glob.is_match("content/gameplay/usa/ship/x.geometry");
    }
    for syntax in [Syntax::Auto, Syntax::Text, Syntax::Glob, Syntax::Regex] {
        let mut options = find::PatternOptions::default();
        options.syntax = syntax;
        options.ignore_case = bits & 1 == 0;
        options.full_path = bits & 2 == 0;
        let Ok(pattern) = Pattern::new(text, options) else { continue };
        for (table, columns) in find::tables(asset, &pattern) {
            let mut rows = 0;
            let _: Result<_, assetq::Error> = find::each(
                &*table,
                &columns,
                &pattern,
                |_| {},
                |_| {
                    rows += 1;
                    Ok(if rows < 50 { std::ops::ControlFlow::Continue(()) } else { std::ops::ControlFlow::Break(()) })
                },
            );
        }
    }
}
