//! Writers: edits of any cells and rows, patches as texts, entries and meshes; each new file is read back, and undone.

use super::input::{File, any, below, file, lie, one_of, rest_as_text};
use super::models;
use arbitrary::Unstructured;
use assetq::edit::read::{self, ChangesFormat, InputRow};
use assetq::edit::{Change, Edit, Editor, key_of, patch};
use assetq::formats::ErrorKind;
use assetq::formats::wows::models::Meshes;
use assetq::table::{Guid, Table, Tree, Value};
use assetq::view::scene::{Context, SceneFormat, Shapes};
use assetq::write::atomic_file::Overwrite;
use assetq::write::json;
use assetq::{Asset, Error, Options, Source};
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;

/// Any edits of any file.
pub fn edit(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let file = file(&mut u, None);
    let Ok(asset) = file.open() else { return };
    let Ok(mut editor) = Editor::with_options(&asset, &file.options) else { return };
    let tables = asset.reader().tables();
    let ways = any::<u8>(&mut u);
    if ways & 7 == 7 {
        entry(&mut u, &asset, &mut editor);
    } else if ways & 7 == 6 && asset.reader().facet::<dyn Meshes>().is_some() {
        meshes(&mut u, &asset, &mut editor);
    } else {
        for _ in 0..=ways >> 6 {
            let Some(table) = tables.get(below(&mut u, tables.len())) else { return };
            one(&mut u, &**table, &mut editor);
        }
    }
    write(&file, &asset, editor);
}

/// One edit: of a cell by its numbers, or of a row by its key.
fn one(u: &mut Unstructured<'_>, table: &dyn Table, editor: &mut Editor<'_>) {
    let rows = table.len().unwrap_or(0).min(64);
    let (row, column) = (below(u, rows + 1), below(u, table.columns().len()));
    let way = any::<u8>(u);
    if way & 3 == 0 {
        let value = value(u, table, row, column, 0);
        let _ = editor.set_cell(table.name(), row, column, value);
        return;
    }
    let key = match key_of(table, row) {
        Ok(key) if way & 4 == 0 => key,
        _ => value(u, table, row, column, 0),
    };
    let mut cells = Vec::new();
    for _ in 0..=way >> 6 {
        let Some(column) = table.columns().get(below(u, table.columns().len())) else { return };
        let at = table.columns().iter().position(|c| c.name == column.name).unwrap();
        cells.push((column.name.to_string().into(), value(u, table, row, at, 0)));
    }
    let change = match way & 3 {
        1 => Change::Set(cells),
        2 => Change::Add(cells),
        _ => Change::Remove,
    };
    let _ = editor.edit(Edit::new(Some(table.name()), key, change));
}

/// A value that may fit: of another row, or of any kind.
fn value(u: &mut Unstructured<'_>, table: &dyn Table, row: usize, column: usize, depth: u8) -> Value<'static> {
    match any::<u8>(u) % 16 {
        0..=4 => {
            let other = below(u, table.len().unwrap_or(0).min(64));
            table.value(other, column).map(Value::into_owned).unwrap_or_default()
        }
        5 => table.value(row, column).map(Value::into_owned).unwrap_or_default(),
        6 => Value::Null,
        7 => Value::Bool(any(u)),
        8 => Value::Int(any(u)),
        9 => Value::Uint(any::<u64>(u)),
        10 => Value::F32(f32::from_bits(any(u))),
        11 => Value::F64(any::<i16>(u).into()),
        12 => match any::<u8>(u) & 1 {
            0 => Value::Id64(any(u)),
            _ => Value::Guid(Guid(any(u))),
        },
        13 => {
            let len = below(u, 40).min(u.len());
            let bytes = u.bytes(len).unwrap_or_default();
            Value::Text(String::from_utf8_lossy(bytes).into_owned().into())
        }
        14 if depth < 3 => {
            Value::List((0..any::<u8>(u) % 5).map(|_| value(u, table, row, column, depth + 1)).collect())
        }
        _ => Value::Uint(any::<u8>(u).into()),
    }
}

/// An entry as its tree, with one changed leaf.
fn entry(u: &mut Unstructured<'_>, asset: &Asset, editor: &mut Editor<'_>) {
    let reader = asset.reader();
    let tables = reader.tables();
    let Some(table) = tables.first() else { return };
    let row = below(u, table.len().unwrap_or(0).min(32));
    let Ok(label) = table.value(row, table.label()) else { return };
    let (name, mut tree) = (label.to_string(), Tree::default());
    if !reader.cat_typed(&name, &mut tree).unwrap_or(false) {
        return;
    }
    let mut new = tree.into_value();
    for _ in 0..any::<u8>(u) % 4 {
        change(u, &**table, &mut new, 0);
    }
    let _ = editor.entry(&name, new);
}

fn change(u: &mut Unstructured<'_>, table: &dyn Table, tree: &mut Value<'static>, depth: u8) {
    let stop = any::<u8>(u) & 7 == 0 || depth > 30;
    match tree {
        Value::List(parts) if !parts.is_empty() && !stop => {
            let at = below(u, parts.len());
            change(u, table, &mut parts[at], depth + 1);
        }
        Value::Map(parts) if !parts.is_empty() && !stop => {
            let at = below(u, parts.len());
            change(u, table, &mut parts[at].1, depth + 1);
        }
        Value::List(parts) if any::<u8>(u) & 1 == 0 => {
            let copied = parts.get(below(u, parts.len())).cloned().unwrap_or_default();
            parts.push(copied);
        }
        Value::Text(text) if any::<u8>(u) & 1 == 0 => text.to_mut().push('x'),
        other => *other = value(u, table, 0, 0, 0),
    }
}

/// The meshes of a file as a binary glTF, with the skin of a visual or without, lied about.
fn meshes(u: &mut Unstructured<'_>, asset: &Asset, editor: &mut Editor<'_>) {
    let mut glb = Vec::new();
    let Some(shapes) = asset.reader().facet::<dyn Shapes>() else { return };
    let context = if any::<u8>(u) & 1 == 0 { Context::default() } else { Context::from_assets([skin()]).unwrap() };
    let Ok(drawing) = shapes.draw(&context, Default::default()) else { return };
    if drawing.write(SceneFormat::Glb, &mut glb).is_ok() {
        if any::<u8>(u) & 1 == 0 {
            numbers(u, &mut glb);
        } else {
            let fields = super::input::fields(&glb);
            lie(u, &mut glb, &fields);
        }
        let _ = editor.meshes(&glb);
    }
}

/// The visual that gives `turret.geometry` its skin.
fn skin() -> &'static Asset {
    static SKIN: LazyLock<Asset> = LazyLock::new(|| {
        let visual = assetq_sample::text_models::turret_visual();
        Asset::open(Source::from_vec("turret.visual", visual)).unwrap()
    });
    &SKIN
}

/// Changes digits of the numbers in the description of a glTF: of joints, accessors and nodes.
fn numbers(u: &mut Unstructured<'_>, glb: &mut [u8]) {
    let len = glb.get(12..16).map_or(0, |len| u32::from_le_bytes(len.try_into().unwrap()) as usize);
    let Some(json) = glb.get_mut(20..20 + len) else { return };
    let digits: Vec<usize> = (0..json.len()).filter(|&at| json[at].is_ascii_digit()).collect();
    for _ in 0..any::<u8>(u) % 4 {
        let Some(&at) = digits.get(below(u, digits.len())) else { return };
        json[at] = b"0123456789-"[below(u, 11)];
    }
}

/// One value of an entry, by its path: one that is shown, with any text.
pub fn set(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let file = file(&mut u, None);
    let Ok(asset) = file.open() else { return };
    let Ok(mut editor) = Editor::with_options(&asset, &file.options) else { return };
    let tables = asset.reader().tables();
    for _ in 0..=any::<u8>(&mut u) % 3 {
        let Some(table) = tables.get(below(&mut u, tables.len())) else { return };
        let row = below(&mut u, table.len().unwrap_or(0).min(32));
        let Ok(label) = table.value(row, table.label()) else { return };
        let (mut path, mut tree) = (label.to_string(), Tree::default());
        let by_row = any::<u8>(&mut u) & 1 == 0;
        if by_row && let Some(column) = table.columns().get(below(&mut u, table.columns().len())) {
            path = format!("{path}.{}", column.name);
        } else if asset.reader().cat(&path, &mut tree).unwrap_or(false) {
            place(&mut u, &tree.into_value(), &mut path);
        }
        let given = match any::<u8>(&mut u) % 4 {
            0 => (*one_of(
                &mut u,
                &["", "0", "-1", "1e40", "true", "null", "[1, 2, 3]", "{}", "0x0123456789ABCDEF", "ä", "NaN"],
            ))
            .to_owned(),
            1 => any::<i64>(&mut u).to_string(),
            2 => any::<i8>(&mut u).to_string(),
            _ => table
                .value(below(&mut u, table.len().unwrap_or(0).min(32)), table.label())
                .map(|value| value.to_string())
                .unwrap_or_default(),
        };
        let table = Some(table.name()).filter(|_| by_row);
        let _ = editor.set_value(table, &path, &given);
    }
    write(&file, &asset, editor);
}

/// Appends the steps to a value in `tree` to a path.
fn place(u: &mut Unstructured<'_>, tree: &Value<'_>, path: &mut String) {
    match tree {
        Value::Map(parts) if !parts.is_empty() => {
            let (name, part) = &parts[below(u, parts.len())];
            path.push_str(&format!(".{name}"));
            place(u, part, path);
        }
        Value::List(parts) if !parts.is_empty() => {
            let at = below(u, parts.len());
            path.push_str(&format!("[{at}]"));
            place(u, &parts[at], path);
        }
        _ => {}
    }
}

/// A folder of this thread, for files that are read back at once.
fn folder() -> PathBuf {
    thread_local! {
        static FOLDER: TempDir = TempDir::new().unwrap();
    }
    FOLDER.with(|folder| folder.path().to_owned())
}

/// Writes the edits, reads the new file, and undoes them: the bytes must be the first ones.
fn write(file: &File, asset: &Asset, editor: Editor<'_>) {
    let plan = match editor.finish() {
        Ok(plan) => plan,
        Err(error) => return refused(file, &error),
    };
    let to = folder().join(&file.name);
    let written = match plan.write(&to, Overwrite::Replace) {
        Ok(written) => written,
        Err(error) => return refused(file, &error),
    };
    let restore = plan.undo(&written);
    // A row of a damaged file may have cells that no row of a patch can say.
    let undone = patch::undo(asset, plan.edits(), &mut |_| Ok(()));
    assert!(undone.is_ok() || !file.is_valid, "{}: {undone:?}", file.name);
    drop(written.commit().unwrap());
    let new = fs::read(&to).unwrap();
    let new = Asset::open_with(Source::from_vec(&file.name, new), &file.options).unwrap();
    let mut editor = Editor::with_options(&new, &file.options).unwrap();
    assert!(editor.restore(&restore).unwrap(), "an undo that is not for the file it was made for");
    let plan = editor.finish().unwrap();
    let back = folder().join("back");
    plan.write(&back, Overwrite::Replace).unwrap().commit().unwrap();
    assert!(fs::read(&back).unwrap() == file.bytes, "{}: what was undone has other bytes", file.name);
}

/// A writer may refuse edits. In a valid file it never writes a result that its own comparison or `verify` then
/// rejects, except for triangles without their vertices: it refuses the edit before.
fn refused(file: &File, error: &Error) {
    let is_wrong = matches!(error.kind(), ErrorKind::Io { source, .. } if source.kind() == std::io::ErrorKind::Other);
    let is_damage = error.to_string().contains("would be damaged") && !file.name.ends_with(".geometry");
    assert!(!file.is_valid || !is_wrong && !is_damage, "{}: {error}", file.name);
}

/// Changes as text, in each of the forms, for a valid file.
pub fn patch(data: &[u8]) {
    static ASSETS: LazyLock<Vec<(File, Asset)>> = LazyLock::new(|| {
        let files = models::all().iter().map(|model| File {
            name: model.name.to_owned(),
            bytes: model.bytes.clone(),
            options: Options::default(),
            is_valid: model.is_valid,
        });
        let opened = files.filter_map(|file| Some((file.open().ok()?, file)));
        opened.filter(|(asset, _)| asset.reader().writable().is_some()).map(|(asset, file)| (file, asset)).collect()
    });
    let mut u = Unstructured::new(data);
    let (kind, which) = (any::<u8>(&mut u), any::<u8>(&mut u));
    let (file, asset) = &ASSETS[usize::from(which) % ASSETS.len()];
    let text = rest_as_text(&mut u);
    let mut editor = Editor::new(asset).unwrap();
    let form =
        [ChangesFormat::Ndjson, ChangesFormat::Json, ChangesFormat::Csv, ChangesFormat::of_head(text.as_bytes())]
            [usize::from(kind & 3)];
    let mut take = |row: InputRow<'_>| match row {
        InputRow::Restore(restore) => editor.restore(&restore).map(drop),
        InputRow::Columns(names) => editor.exported_columns(None, &names),
        InputRow::Empty => Ok(()),
        InputRow::Edit(edit) => editor.edit(edit).map(drop),
        InputRow::Blank { cells, from } => editor.exported_blank(None, cells, from),
        InputRow::Exported { cells, from, .. } => editor.exported(None, cells, from, kind & 4 == 0),
    };
    let _ = read::rows(text.as_bytes(), form, &mut take);
    if kind & 0x30 == 0x30 {
        let _ = editor.delete_missing(None);
    }
    write(file, asset, editor);
}

/// Patches between files of the builders, and rows as they are exported: as inputs of [`patch`].
pub fn patches() -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    let models = models::all();
    let written = models.iter().filter_map(|model| {
        let asset = Asset::open(Source::from_vec(model.name, model.bytes.clone())).ok()?;
        asset.reader().writable().is_some().then_some((model, asset))
    });
    for (which, (model, asset)) in written.enumerate() {
        let mut lines = Vec::new();
        for other in models.iter().filter(|other| other.name == model.name && other.bytes != model.bytes).take(1) {
            let other = Asset::open(Source::from_vec(other.name, other.bytes.clone())).unwrap();
            let _ = patch::between(&asset, &other, &assetq::Options::default(), &[], &mut |_, _| {}, &mut |row| {
                lines.push(json::to_string(&row)?);
                Ok(())
            });
        }
        let mut rows = Vec::new();
        let tables = asset.reader().tables();
        let Some(table) = tables.first() else { continue };
        for row in 0..table.len().unwrap_or(0).min(4) {
            let cells = table.columns().iter().enumerate();
            let cells = cells.filter_map(|(at, column)| {
                Some((column.name.to_string().into(), table.value(row, at).ok()?.into_owned()))
            });
            rows.push(json::to_string(&Value::Map(cells.collect())).unwrap());
        }
        for line in lines.into_iter().step_by(7).take(6) {
            inputs.push([vec![0, which as u8], line.into_bytes()].concat());
        }
        inputs.push([vec![0, which as u8], rows.join("\n").into_bytes()].concat());
        inputs.push([vec![1, which as u8], format!("[{}]", rows.join(",")).into_bytes()].concat());
        let header: Vec<&str> = table.columns().iter().map(|c| &*c.name).collect();
        inputs.push(
            [vec![2, which as u8], format!("{}\r\n{}\r\n", header.join(","), "1,".repeat(header.len())).into()]
                .concat(),
        );
    }
    inputs
}
