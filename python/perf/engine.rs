//! The engine alone, for `measure.py`: the best time of each question over some rounds, in milliseconds.

use assetq::formats::wows::bwdb::Database;
use assetq::table::Table;
use assetq::write::arrow::ArrowBatches;
use assetq::write::rows::{RowSink as _, SinkEvent};
use assetq::{Asset, Error, Options};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

fn best(rounds: usize, mut ask: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        ask()?;
        best = best.min(start.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(best)
}

/// All rows as record batches in memory, as a table of pyarrow holds them.
fn batches(table: &dyn Table) -> Result<(), Error> {
    let mut batches = Vec::new();
    let mut sink = ArrowBatches::new(table.columns(), |batch| {
        batches.push(batch);
        Ok(())
    });
    let columns: Vec<usize> = (0..table.columns().len()).collect();
    let met = |met| match met {
        SinkEvent::Rows(_) => Ok(()),
        SinkEvent::Damage(_, error) => Err(error),
    };
    match sink.rows_of(table, &columns, met) {
        Some(done) => done?,
        None => {
            let mut rows = table.cursor_over(0, Some(&columns));
            while rows.advance()? {
                sink.row_of(&*rows, &columns)?;
            }
        }
    }
    sink.finish()?;
    drop(sink);
    black_box(batches);
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, ids, rounds] = arguments.as_slice() else { return Err("FOLDER IDS ROUNDS".into()) };
    let (folder, rounds) = (Path::new(folder), rounds.parse()?);
    let db = Asset::open_at(folder.join("assets.bin"), &Options::default())?;
    let bytes = std::fs::read(ids)?;
    let ids: Vec<u64> = bytes.as_chunks().0.iter().map(|id| u64::from_le_bytes(*id)).collect();
    let known = db.get::<Database>().ok_or("no database")?;
    let lookup = || {
        let mut found = vec![None; ids.len()];
        known.lookup_many(&ids, &mut found)?;
        black_box(found);
        Ok(())
    };
    println!("lookup_many {}", best(rounds, lookup)?);
    for (file, name) in [("assets.bin", "paths"), ("savegame.vrb", "values")] {
        let asset = Asset::open_at(folder.join(file), &Options::default())?;
        let table = asset.reader().table(name).ok_or("no table")?;
        println!("{name} {}", best(rounds, || batches(&*table))?);
    }
    Ok(())
}
