use super::{Context, Exit, Failure, Outcome};
use crate::formats::bwdb::{Database, Models, State};
use crate::id;
use crate::table::{Column, Kind, Value};
use std::path::PathBuf;

/// Find where the prototypes of ids or paths are
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq resolve content/gameplay/…/JSD011_Akizuki_1944.model --db assets.bin
  assetq resolve 0x0DF5A921212A899E -f json
  cut -f1 ids.txt | assetq resolve - -f ndjson")]
pub(super) struct Args {
    /// Ids (0x…, 16 hex digits, or decimal) or paths; `-` reads one a line from standard input
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// The database (or a models.bin); else $ASSETQ_DB, else the assets.bin here or above
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Leave the path out, and the walk that finds it
    #[arg(long)]
    no_path: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let path = context.database_path(args.db.as_deref())?;
    let asset = context.open(&path)?;
    let file = asset.source().name();
    let columns = [
        Column::new("query", Kind::Text),
        Column::new("id", Kind::Id64),
        Column::new("path", Kind::Text),
        Column::new("type", Kind::Text),
        Column::new("database", Kind::Uint),
        Column::new("record", Kind::Uint),
        Column::new("state", Kind::Any),
        Column::new("offset", Kind::Uint),
        Column::new("size", Kind::Uint),
    ];
    let shown = |name: &str| !(args.no_path && name == "path");
    let columns: Vec<Column> = columns.into_iter().filter(|c| shown(&c.name)).collect();
    let mut out = context.rows(&columns)?;
    for query in context.arguments(&args.ids) {
        let query = query?;
        let found = if let Some(db) = asset.get() {
            in_database(db, &query, args.no_path, &|e| context.damaged(file, &e))
        } else if let Some(models) = asset.get() {
            in_models(models, &query)
        } else {
            let what = format!("{file}: a {} file is no database; --db takes an assets.bin", asset.format());
            return Err(Failure::new(Exit::Usage, what));
        };
        match found {
            Ok(Some(found)) => {
                let Found { id, path, kind, database, record, state, place } = found;
                let mut cells = vec![Value::text(&query), Value::Id64(id)];
                if !args.no_path {
                    cells.push(path.into());
                }
                let (offset, size) = place.unzip();
                cells.extend([
                    kind.into(),
                    database.into(),
                    record.into(),
                    state.map(Value::from).unwrap_or_default(),
                    offset.into(),
                    size.into(),
                ]);
                out.row(&cells)?;
            }
            Ok(None) => context.not_found(&format!("{file}: {query:?} not found")),
            Err(error) => context.damaged(file, &error),
        }
    }
    out.finish()?;
    Ok(Exit::Done)
}

struct Found {
    id: u64,
    path: Option<String>,
    kind: Option<String>,
    database: Option<usize>,
    record: Option<usize>,
    state: Option<State>,
    place: Option<(u64, usize)>,
}

/// The place of what a query asks for; what is damaged besides it goes to `complain`.
fn in_database(
    db: &Database,
    query: &str,
    no_path: bool,
    complain: &dyn Fn(crate::Error),
) -> crate::Result<Option<Found>> {
    let asked = id::parse(query);
    let resource = match asked {
        Some(id) => db.lookup(id)?,
        None => db.lookup_path(query)?,
    };
    let id = resource.map(|r| r.id()).or(asked).unwrap_or_else(|| Database::path_id(query));
    // The path of an id that is a path's hash needs no walk.
    let path = match asked {
        None if resource.is_some() => Some(query.to_owned()),
        _ if no_path && resource.is_some() => None,
        _ => match db.path(id) {
            Ok(None) if resource.is_none() => return Ok(None),
            Ok(path) => path,
            Err(error) => {
                complain(error);
                None
            }
        },
    };
    let mut found = Found { id, path, kind: None, database: None, record: None, state: None, place: None };
    let Some(resource) = resource else { return Ok(Some(found)) };
    found.database = Some(resource.database_index());
    found.record = Some(resource.record_index());
    found.state = Some(resource.state());
    match resource.database() {
        Ok(blob) => {
            found.kind = Some(blob.type_name_or_magic());
            if resource.state() == State::Valid {
                match blob.record_span(resource.record_index()) {
                    Ok((view, size)) => found.place = Some((view.offset(), size)),
                    // That records are shown raw is no damage.
                    Err(error) if matches!(error.kind(), crate::ErrorKind::Unsupported { .. }) => {}
                    Err(error) => complain(error),
                }
            }
        }
        Err(error) => complain(error),
    }
    Ok(Some(found))
}

fn in_models(models: &Models, query: &str) -> crate::Result<Option<Found>> {
    let asked = id::parse(query);
    let id = asked.unwrap_or_else(|| Database::path_id(query));
    let Some(index) = models.find(id) else { return Ok(None) };
    let model = models.model(index);
    Ok(model.map(|model| Found {
        id,
        // A models.bin has ids only.
        path: asked.is_none().then(|| query.to_owned()),
        kind: Some("ModelPrototype".to_owned()),
        database: None,
        record: Some(index),
        state: Some(State::Valid),
        place: Some((crate::formats::bwdb::record::Prototype::view(&model).offset(), Models::MODEL_SIZE)),
    }))
}
