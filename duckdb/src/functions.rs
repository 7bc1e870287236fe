//! The functions of the extension, and the names of files in place of tables.

use crate::api::{Handle, api};
use crate::boundary::{Argument, c_text, caught, free, give, run, text};
use crate::kept;
use crate::scan::{Bind, Local, OpenTable, Opened, Scan};
use crate::vector::ColumnType;
use assetq::formats::{BUILT_IN, ErrorKind, id};
use assetq::query::archive::{Cache, Oodle};
use assetq::query::files::{FilePattern, FormatOf};
use assetq::table::filter::{Bound, Filter, Literal, Op};
use assetq::table::{Column, DeclaredTable, Kind, Table, Value, ValueShape};
use assetq::write::stream::Selection;
use assetq::{Asset, Error, Format, Options, Source};
use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, Mutex};

/// The result of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Function {
    Rows,
    Tables,
    Entry,
}

/// The functions, and the number of their arguments. DuckDB's stable API registers one function of a name, without optional arguments.
const FUNCTIONS: [(Function, &CStr, usize); 3] =
    [(Function::Rows, c"assetq", 2), (Function::Tables, c"assetq_tables", 1), (Function::Entry, c"assetq_get", 2)];
/// Options of every function that are true or false.
const TRUTHS: [&CStr; 3] = [c"skip_damaged", c"mmap", c"strict"];
/// The option of every function with more names for ids, and the one with a format.
const NAMES: &CStr = c"names";
const FORMAT_OF: &CStr = c"format_of";
/// Conditions on rows: of any kind, and equality with the key of an entry.
const WHERE: &CStr = c"where";
const KEY: &CStr = c"key";

/// Registers all functions.
pub fn register(connection: Handle) -> bool {
    let (text, truth) = (ColumnType::Text.logical(), ColumnType::Bool.logical());
    let texts = ColumnType::List(Box::new(ColumnType::Text)).logical();
    (0..).zip(FUNCTIONS).all(|(number, (of, name, arguments))| {
        // SAFETY: an own function of DuckDB, which copies it.
        unsafe {
            let mut function = (api().create_table_function)();
            (api().table_function_set_name)(function, name.as_ptr());
            for _ in 0..arguments {
                (api().table_function_add_parameter)(function, text.0);
            }
            for option in TRUTHS {
                (api().table_function_add_named_parameter)(function, option.as_ptr(), truth.0);
            }
            (api().table_function_add_named_parameter)(function, NAMES.as_ptr(), texts.0);
            (api().table_function_add_named_parameter)(function, FORMAT_OF.as_ptr(), text.0);
            if of == Function::Rows {
                for option in [WHERE, KEY] {
                    (api().table_function_add_named_parameter)(function, option.as_ptr(), text.0);
                }
            }
            (api().table_function_set_extra_info)(function, ptr::without_provenance_mut(number), None);
            (api().table_function_set_bind)(function, bind);
            (api().table_function_set_init)(function, init);
            (api().table_function_set_local_init)(function, local_init);
            (api().table_function_set_function)(function, fill);
            (api().table_function_supports_projection_pushdown)(function, true);
            let registered = (api().register_table_function)(connection, function) == 0;
            (api().destroy_table_function)(&mut function);
            registered
        }
    })
}

unsafe extern "C" fn bind(info: Handle) {
    // SAFETY: DuckDB passes an object that takes errors.
    unsafe { run(info, api().bind_set_error, || Call(info).bind()) };
}

/// A call of a function: an object of DuckDB that exists as long as `bind` runs.
struct Call(Handle);

impl Call {
    fn argument(&self, place: u64) -> Option<String> {
        // SAFETY: an object of DuckDB, whose value the caller owns.
        unsafe { Argument::new((api().bind_get_parameter)(self.0, place)) }.map(|given| given.text())
    }

    fn option(&self, name: &CStr) -> Option<Argument> {
        // SAFETY: as in `argument`.
        unsafe { Argument::new((api().bind_get_named_parameter)(self.0, name.as_ptr())) }
    }

    /// Whether an option is given, be it as NULL.
    fn is_given(&self, name: &CStr) -> bool {
        // SAFETY: an object of DuckDB; its value is null, or is destroyed here.
        unsafe {
            let mut given = (api().bind_get_named_parameter)(self.0, name.as_ptr());
            let is_given = !given.is_null();
            if is_given {
                (api().destroy_value)(&mut given);
            }
            is_given
        }
    }

    fn is(&self, name: &CStr, by_default: bool) -> bool {
        self.option(name).map_or(by_default, |given| given.truth())
    }

    fn options(&self) -> Options {
        let mut options = Options::default();
        (options.no_mmap, options.strict) = (!self.is(c"mmap", true), self.is(c"strict", false));
        if let Some(folder) = Cache::default_folder() {
            options = options.with(Arc::new(Cache::in_folder(folder)));
        }
        if let Some(format) = self.option(FORMAT_OF) {
            options = options.with(Arc::new(FormatOf(format.text())));
        }
        match Oodle::of_environment() {
            Some(oodle) => options.with(Arc::new(oodle)),
            None => options,
        }
    }

    /// Files with more names for ids.
    fn names(&self) -> Vec<PathBuf> {
        let given = self.option(NAMES).map_or_else(Vec::new, |list| list.items());
        given.iter().map(|name| name.text().into()).collect()
    }

    fn bind(&self) -> Result<(), String> {
        // SAFETY: an object of DuckDB.
        let number = unsafe { (api().bind_get_extra_info)(self.0) }.addr();
        let Some((function, _, _)) = FUNCTIONS.get(number) else { return Err("no such function".to_owned()) };
        let given = self.argument(0).ok_or("FILE is NULL")?;
        let (file, table) = file_and_table(&given);
        let failed = |error: Error| format!("{file}: {error}");
        let (asset, columns) = kept::open(Path::new(file), &self.options(), &self.names()).map_err(failed)?;
        let no_key = || not_found("there is no entry NULL".to_owned());
        let found = match function {
            Function::Tables => Ok((Opened::Made(tables(&asset)), None)),
            Function::Rows => {
                let condition = self.option(WHERE).map(|given| given.text());
                let key =
                    self.is_given(KEY).then(|| self.option(KEY).ok_or_else(no_key)).transpose().map_err(failed)?;
                let key = key.map(|given| given.text());
                opened(asset, self.argument(1).as_deref().or(table), condition.as_deref(), key)
            }
            Function::Entry => {
                let key = self.argument(1).ok_or_else(no_key).map_err(failed)?;
                opened(asset, table, None, Some(key))
            }
        };
        let (opened, filter) = found.map_err(failed)?;
        let types = ColumnType::of(opened.table().columns());
        let rows = opened.table().known_len().filter(|_| filter.is_none());
        for (column, of) in opened.table().columns().iter().zip(&types) {
            // SAFETY: an object of DuckDB, which copies the name and the type.
            unsafe { (api().bind_add_result_column)(self.0, c_text(&column.name).as_ptr(), of.logical().0) };
        }
        let (file, opened) = (file.to_owned(), Arc::new(opened));
        let skip_damaged = self.is(c"skip_damaged", false);
        let (held, skipped) = (Mutex::default(), Mutex::default());
        let bind = Arc::new(Bind { file, opened, columns, held, types, filter, skip_damaged, skipped });
        // SAFETY: an object of DuckDB, which frees the data by the function for its type.
        unsafe {
            if let Some(rows) = rows {
                (api().bind_set_cardinality)(self.0, rows as u64, true);
            }
            (api().bind_set_bind_data)(self.0, give(bind), free::<Arc<Bind>>);
        }
        Ok(())
    }
}

type Found = (Opened, Option<Bound>);

fn not_found(what: String) -> Error {
    Error::of_part(ErrorKind::NotFound { what }, "")
}

/// The table called `name`, or the main table, and the condition on its rows: `condition`, and that their key is `key`.
fn opened(asset: Asset, name: Option<&str>, condition: Option<&str>, key: Option<String>) -> assetq::Result<Found> {
    let main = || asset.reader().tables().first().map(|table| table.name().to_owned());
    let name = name.map(str::to_owned).or_else(main).ok_or_else(|| not_found("a table".to_owned()))?;
    let open = OpenTable::try_new(asset, |asset| match asset.reader().table(&name) {
        Some(table) => Ok(table),
        // Its error lists the tables.
        None => Err(Selection::new(asset.clone(), &name).err().unwrap_or_else(|| not_found(name))),
    })?;
    let table = open.borrow_dependent();
    let mut filters: Vec<Filter> = key.map(|key| has_key(&**table, key)).into_iter().collect();
    if let Some(condition) = condition {
        filters.push(Filter::parse(condition)?);
    }
    let filter = (!filters.is_empty()).then(|| Filter::And(filters).bind(table.columns())).transpose()?;
    Ok((Opened::File(open), filter))
}

/// The condition of rows whose key is `key`, in a column with an index if the table has one.
fn has_key(table: &dyn Table, key: String) -> Filter {
    let kinds: &[Kind] = match id::parse(&key) {
        Some(_) => &[Kind::Id64, Kind::Id32, Kind::Uint, Kind::Int],
        None => &[Kind::Text, Kind::Guid],
    };
    let columns = table.columns().iter().enumerate();
    let mut found = columns.filter(|(at, column)| kinds.contains(&column.kind) && table.finds(*at));
    let at = found.next().map_or_else(|| table.label(), |(at, _)| at);
    let column = table.columns().get(at).map_or_else(String::new, |column| column.name.to_string());
    Filter::Compare { column, op: Op::Eq, literal: Literal::Text(key) }
}

/// The tables of a file as a table.
fn tables(asset: &Asset) -> Box<dyn Table> {
    let rows: Vec<TableRow> = asset.reader().tables().iter().map(|table| TableRow::of(&**table)).collect();
    let count = rows.len();
    let names = ValueShape::list(ValueShape::of(Kind::Text));
    let made = DeclaredTable::new("tables", move || Ok(count), move |row| Ok(rows.get(row).cloned()))
        .column(Column::text("name"), |row| Ok(row.name.clone()))
        .column(Column::uint("rows"), |row| Ok(row.rows.clone()))
        .column(Column::nested("columns").shaped(Some(names)), |row| Ok(row.columns.clone()));
    Box::new(made)
}

#[derive(Clone)]
struct TableRow {
    name: Value<'static>,
    rows: Value<'static>,
    columns: Value<'static>,
}

impl TableRow {
    fn of(table: &dyn Table) -> Self {
        let columns = table.columns().iter().map(|column| Value::owned(column.name.to_string())).collect();
        let rows = table.known_len().map_or(Value::Null, Value::from);
        Self { name: Value::owned(table.name().to_owned()), rows, columns: Value::List(columns) }
    }
}

unsafe extern "C" fn init(info: Handle) {
    // SAFETY: DuckDB passes an object that takes errors, and the data of `bind`.
    unsafe {
        run(info, api().init_set_error, || {
            let bind = &*(api().init_get_bind_data)(info).cast::<Arc<Bind>>();
            let count = (api().init_get_column_count)(info);
            let columns: Vec<u64> = (0..count).map(|at| (api().init_get_column_index)(info, at)).collect();
            let scan = Scan::new(Arc::clone(bind), &columns)?;
            (api().init_set_max_threads)(info, scan.threads());
            (api().init_set_init_data)(info, give(Arc::new(scan)), free::<Arc<Scan>>);
            Ok(())
        });
    }
}

/// The state of a thread is created at its first chunk, where the scan is at hand.
unsafe extern "C" fn local_init(info: Handle) {
    // SAFETY: DuckDB passes an object that takes errors.
    unsafe {
        run(info, api().init_set_error, || {
            (api().init_set_init_data)(info, give(None::<Local>), free::<Option<Local>>);
            Ok(())
        });
    }
}

unsafe extern "C" fn fill(info: Handle, chunk: Handle) {
    // SAFETY: DuckDB passes an object that takes errors, the data of `init` and `local_init`, and an empty chunk. No other thread has the
    // local data.
    unsafe {
        run(info, api().function_set_error, || {
            let scan = &*(api().function_get_init_data)(info).cast::<Arc<Scan>>();
            let local = &mut *(api().function_get_local_init_data)(info).cast::<Option<Local>>();
            local.get_or_insert_with(|| Local::new(scan)).fill(scan, chunk)
        });
    }
}

/// Reads `FROM 'assets.bin'` and `FROM 'assets.bin:render_sets'`: names with an ending of a known format.
pub unsafe extern "C" fn replace(info: Handle, name: *const c_char, _: Handle) {
    let answer = caught(|| {
        // SAFETY: DuckDB passes a text.
        let Some(name) = (unsafe { text(name) }) else { return Ok(()) };
        let (file, table) = file_and_table(&name);
        if !is_file(file) {
            return Ok(());
        }
        // SAFETY: DuckDB passes an object that takes the name of a function and its arguments, which it copies.
        unsafe {
            (api().replacement_scan_set_function_name)(info, c"assetq".as_ptr());
            let table = table.map(c_text);
            for mut value in [
                (api().create_varchar)(c_text(file).as_ptr()),
                table.map_or_else(|| (api().create_null_value)(), |table| (api().create_varchar)(table.as_ptr())),
            ] {
                (api().replacement_scan_add_parameter)(info, value);
                (api().destroy_value)(&mut value);
            }
        }
        Ok(())
    });
    // DuckDB then reports that there is no such table.
    drop(answer);
}

/// The file of an argument, and the table if it is `FILE:TABLE`. A file of that name wins.
fn file_and_table(given: &str) -> (&str, Option<&str>) {
    match given.rsplit_once(':') {
        Some((file, table)) if !table.contains(['/', '\\', '.', '*']) && !is_file(given) && is_file(file) => {
            (file, Some(table))
        }
        _ => (given, None),
    }
}

/// Whether `name` is a file or pattern of a known format, or the name of such a file that does not exist.
fn is_file(name: &str) -> bool {
    let path = Path::new(name);
    if has_known_ending(name) {
        return true;
    }
    if path.is_file() {
        return Source::open(path).is_ok_and(|source| Format::detect(&source).is_ok());
    }
    let is_many = name.contains(['/', ':', '*']) && FilePattern::parse(path).is_many();
    is_many || path.is_dir()
}

/// Whether `name` has an ending of files that assetq reads. Most formats with a magic are called after their ending.
fn has_known_ending(name: &str) -> bool {
    let ending = Path::new(name).extension().map(|ending| ending.to_ascii_lowercase());
    let mut formats = BUILT_IN.iter().copied().flatten().map(|format| format.name());
    ending.is_some_and(|ending| ending == "bin" || formats.any(|name| ending == name))
        || Format::guess(name, &[]).is_some()
}
