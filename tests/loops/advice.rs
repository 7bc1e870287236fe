//! Advice in messages works: the test reads it from the message and follows it.

use crate::command::{Answer, Place, assetq};
use crate::subject::Subject;
use crate::{Ended, broken};

/// Wrong names of tables, columns, entries and options; each message that advises something is followed.
pub fn works(subject: &Subject, place: &Place) -> Ended {
    let Some(table) = subject.small_tables().next() else { return Ended::Absent("no table with rows") };
    let mut followed = false;
    let wrong_table = misspelled(&table.name);
    let label = &table.label;
    let wrong_column = misspelled(label);
    let condition = format!("{wrong_column} = 1");
    let query = format!(r#"SELECT * FROM "{wrong_table}""#);
    let query_column = format!(r#"SELECT "{wrong_column}" FROM "{}""#, table.name);
    let tries: [(&[&str], &str); 6] = [
        (&["ls", &place.address, "-t", &wrong_table], &wrong_table),
        (&["export", &place.address, "-t", &wrong_table, "--to", &place.path("x.csv"), "--force"], &wrong_table),
        (&["ls", &place.address, "-t", &table.name, "--where", &condition], &wrong_column),
        (&["ls", &place.address, "-t", &table.name, "--colums", label], "--colums"),
        (&["sql", &query, &place.address], &wrong_table),
        (&["sql", &query_column, &place.address], &wrong_column),
    ];
    for (args, wrong) in tries {
        let answer = assetq(args);
        if answer.code == 0 {
            broken!("a wrong name is taken: {}", answer.shown());
        }
        for right in advised(&answer.err) {
            let args: Vec<String> = args.iter().map(|arg| arg.replace(wrong, &right)).collect();
            let answer = assetq(&args);
            // A condition may match nothing, and columns of numbers refuse texts in words of their own.
            if answer.code == 2 {
                broken!("advice for {wrong:?}: {right:?}: {}", answer.shown());
            }
            followed = true;
        }
    }
    if let Some(why) = followed_entry(place, table) {
        broken!("{why}");
    }
    if followed { Ended::Whole } else { Ended::Absent("no message gives advice") }
}

/// A wrong entry of `cat`, whose advice is an entry that it shows.
fn followed_entry(place: &Place, table: &crate::subject::TableInfo) -> Option<String> {
    let listed = assetq(&["ls", &place.address, "-t", &table.name, "-f", "ndjson", "-n", "1"]);
    let row: serde_json::Value = serde_json::from_str(listed.out.lines().next()?).ok()?;
    let label = row[&*table.label].as_str().filter(|label| label.chars().count() > 4)?;
    let wrong = misspelled(label);
    let answer: Answer = assetq(&["cat", &place.address, &wrong]);
    if answer.code == 0 {
        return None;
    }
    advised(&answer.err).into_iter().find_map(|right| {
        let answer = assetq(&["cat", "--", &place.address, &right]);
        (answer.code != 0).then(|| format!("advice for {wrong:?}: {right:?}: {}", answer.shown()))
    })
}

/// The name without its second character.
fn misspelled(name: &str) -> String {
    name.chars().enumerate().filter(|(at, _)| *at != 1).map(|(_, c)| c).collect()
}

/// The names that a message advises.
fn advised(message: &str) -> Vec<String> {
    let Some((_, rest)) = message.split_once("did you mean ") else { return Vec::new() };
    let rest = rest.lines().next().unwrap();
    let rest = rest.split(['?', ';']).next().unwrap();
    rest.split(", ")
        .flat_map(|part| part.split(" or "))
        .map(|name| name.trim().trim_matches(['"', '\'', '`']).to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}
