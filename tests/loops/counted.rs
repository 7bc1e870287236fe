//! Pages and counts of rows: one answer, with one exit code, and whatever it lacks is named.

use crate::command::{Answer, Place, assetq};
use crate::subject::{Subject, TableInfo};
use crate::{Ended, broken, hash};
use serde_json::Value;

/// The tables that a test reads in a place: one that differs between files, and the main one.
fn some<'s>(subject: &'s Subject, place: &Place) -> Vec<&'s TableInfo> {
    let small: Vec<&TableInfo> = subject.small_tables().collect();
    if small.is_empty() {
        return small;
    }
    let other = hash(&[&subject.name, &place.address]) % small.len();
    let mut chosen = vec![small[0]];
    chosen.extend((other > 0).then(|| small[other]));
    chosen
}

/// An exit code as a page and the whole answer share it: that of what is left out.
fn lacking(answer: &Answer) -> Option<i32> {
    matches!(answer.code, 3 | 4).then_some(answer.code)
}

/// Pages by LIMIT and OFFSET are together the whole answer, and say the same of what is left out.
pub fn pages(subject: &Subject, place: &Place) -> Ended {
    for table in some(subject, place) {
        let rows = format!(r#"SELECT * FROM "{}""#, table.name);
        // A statement over one file ends at its first damaged row, unless such rows are skipped.
        let ask = |query: &str| assetq(&["sql", query, &place.address, "-f", "ndjson", "--skip-damaged"]);
        let whole = ask(&rows);
        if !matches!(whole.code, 0 | 3 | 4) {
            broken!("{}", whole.shown());
        }
        let size = whole.lines() / 2 + 1;
        let mut together = String::new();
        for page in 0..3 {
            let answer = ask(&format!("{rows} LIMIT {size} OFFSET {}", page * size));
            if answer.lines() > size {
                broken!("{} rows: {}", answer.lines(), answer.shown());
            }
            together.push_str(&answer.out);
            if page == 2 && (lacking(&answer) != lacking(&whole) || !answer.out.is_empty()) {
                broken!("past the last row: {} and {}", answer.shown(), whole.shown());
            }
        }
        if together != whole.out {
            let at = together.lines().zip(whole.out.lines()).position(|(a, b)| a != b);
            let lines = together.lines().count();
            broken!("pages of {size} differ from row {at:?} on, {lines} and {} rows: {}", whole.lines(), whole.line);
        }
        let listed = assetq(&["ls", &place.address, "-t", &table.name, "-f", "ndjson"]);
        if lacking(&listed) != lacking(&whole) {
            broken!("{} and {}", listed.shown(), whole.shown());
        }
    }
    Ended::Whole
}

/// `count(*)`, `ls`, `info` and an export give one number.
pub fn counts(subject: &Subject, place: &Place) -> Ended {
    for table in some(subject, place) {
        let name = &table.name;
        let listed = assetq(&["ls", &place.address, "-t", name, "-f", "ndjson"]);
        let queried =
            assetq(&["sql", &format!(r#"SELECT count(*) AS n FROM "{name}""#), &place.address, "-f", "ndjson"]);
        let counted = serde_json::from_str::<Value>(&queried.out).ok().and_then(|row| row["n"].as_u64());
        // A row with a damaged cell counts, and a count reads no cell of one file.
        let is_one_file = place.file.is_some();
        // Where no row can be found, there is no number either.
        if counted.is_none() && listed.lines() == 0 && lacking(&queried).is_some() && queried.code == listed.code {
            continue;
        }
        if counted != Some(listed.lines() as u64)
            || (lacking(&queried) != lacking(&listed) && !(is_one_file && queried.code == 0))
        {
            broken!("{} and {} rows: {}", queried.shown(), listed.lines(), listed.shown());
        }
        let file = place.path("count.ndjson");
        let exported = assetq(&["export", &place.address, "-t", name, "--to", &file, "--force"]);
        let rows = std::fs::read_to_string(&file).map_or(0, |text| text.lines().count());
        if lacking(&exported) != lacking(&listed) || (exported.code == 0 && rows != listed.lines()) {
            broken!("{rows} rows: {} and {}", exported.shown(), listed.shown());
        }
        let info = assetq(&["info", &place.address, "-f", "ndjson"]);
        let told: Option<u64> = info
            .out
            .lines()
            .map(|line| {
                let info: Value = serde_json::from_str(line).unwrap();
                let table = info["tables"].as_array()?.iter().find(|table| table["name"] == **name)?.clone();
                table["rows"].as_u64()
            })
            .sum();
        if let Some(told) = told.filter(|_| listed.code == 0)
            && told != listed.lines() as u64
        {
            broken!("info tells {told} rows: {}", listed.shown());
        }
    }
    Ended::Whole
}

/// Each answer that lacks something names the file, and its exit code is 3 or 4.
pub fn left_out(subject: &Subject, place: &Place) -> Ended {
    for table in &subject.tables {
        // Damage elsewhere in a file leaves nothing out of this table.
        let lacks = |file: &&String| lacking(&assetq(&["ls", file, "-t", &table.name, "-f", "ndjson"])).is_some();
        let lacking_files: Vec<&String> = place.lacking.iter().filter(lacks).collect();
        if lacking_files.is_empty() {
            continue;
        }
        let file = place.path("rows.csv");
        let query = format!(r#"SELECT * FROM "{}""#, table.name);
        let mut all: Vec<Vec<&str>> = vec![
            vec!["ls", &place.address, "-t", &table.name, "-f", "ndjson"],
            vec!["sql", &query, &place.address, "-f", "csv"],
            vec!["export", &place.address, "-t", &table.name, "--to", &file, "--force"],
        ];
        if place.file.is_some() {
            all.push(vec!["diff", subject.file().to_str().unwrap(), &place.address, "-t", &table.name]);
        }
        for args in all {
            let answer = assetq(&args);
            if lacking(&answer).is_none() {
                broken!("something is left out: {}", answer.shown());
            }
            if let Some(name) = lacking_files.iter().find(|name| !answer.err.contains(name.rsplit('/').next().unwrap()))
            {
                broken!("{name} is not named: {}", answer.shown());
            }
        }
        return Ended::Whole;
    }
    Ended::Absent("nothing that any table shows is left out")
}
