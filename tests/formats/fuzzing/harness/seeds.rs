//! Inputs and words to begin with, made by the builders.

use super::input::RAW;
use super::models::{self, Family};
use super::read::WAYS;
use std::collections::BTreeSet;

/// Each file as it is, and with one lie of each kind about its first fields.
fn seeds(family: Option<Family>) -> Vec<Vec<u8>> {
    let models = models::all().iter().filter(|model| family.is_none_or(|of| of == model.family)).count();
    let mut inputs = Vec::new();
    for model in 0..models + models::parts(family).len() {
        let model = model as u8;
        inputs.extend((0..WAYS).map(|way| vec![model, 0, way]));
        for value in 0..4 {
            let lie = [value, model.wrapping_mul(3).wrapping_add(value), 0, 5 * value];
            inputs.push([vec![model, 2], lie.to_vec(), lie.map(|byte| byte ^ 5).to_vec()].concat());
        }
    }
    let all = models::all().iter().filter(|model| family.is_none_or(|of| of == model.family)).enumerate();
    // The later tables of the file with the most tables.
    if let Some((number, _)) = all.clone().find(|(_, model)| model.name == "assets.bin") {
        inputs.extend((0..10 * WAYS).map(|n| vec![number as u8, 0, n % WAYS, n / WAYS * 6]));
    }
    // The smallest of them as bare bytes.
    for (number, model) in all.filter(|(_, model)| model.bytes.len() < 2000) {
        inputs.push([vec![RAW, number as u8], model.bytes.clone()].concat());
    }
    inputs
}

pub fn files() -> Vec<Vec<u8>> {
    seeds(None)
}

pub fn bwdb() -> Vec<Vec<u8>> {
    seeds(Some(Family::Bwdb))
}

pub fn geometry() -> Vec<Vec<u8>> {
    seeds(Some(Family::Geometry))
}

pub fn vrb() -> Vec<Vec<u8>> {
    seeds(Some(Family::Vrb))
}

pub fn wdata() -> Vec<Vec<u8>> {
    seeds(Some(Family::Wdata))
}

pub fn wdb() -> Vec<Vec<u8>> {
    seeds(Some(Family::Wdb))
}

pub fn text_models() -> Vec<Vec<u8>> {
    seeds(Some(Family::Text))
}

pub fn gameparams() -> Vec<Vec<u8>> {
    // Each vector as any bytes of a pickle.
    let parts = models::all().iter().filter(|model| model.family == Family::Params).count() as u8;
    let pickles = models::pickles().iter().enumerate();
    let made = pickles
        .flat_map(|(n, pickle)| [[vec![parts, n as u8, 0], pickle.clone()].concat(), vec![parts, n as u8, 2, 0]]);
    seeds(Some(Family::Params)).into_iter().chain(made).collect()
}

pub fn archives() -> Vec<Vec<u8>> {
    let single = seeds(Some(Family::Archive)).into_iter().map(|seed| [vec![0], seed].concat());
    let folders = (0..32u8).map(|n| {
        let inner = [&b"content/assets.bin"[..], b"7000000", b"db/resident/wdbpack.bin:item.wdb"][usize::from(n % 3)];
        [vec![1, n % 4, 1, n / 4, n % 3, n, 0, n], inner.to_vec()].concat()
    });
    single.chain(folders).collect()
}

pub fn codecs() -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    for kind in 0..6 {
        for n in 0..8u8 {
            inputs.push(vec![kind, n, n * 3, 0, 0, 0, 1, 40 + n, 3, n, n % 3, n, 7, n, 2, 9, n]);
        }
    }
    inputs
}

/// A file, one to change, and the number of changes, with what follows from them.
pub fn beside() -> Vec<Vec<u8>> {
    (0..96u8)
        .map(|n| vec![n, n / 7, n % 5, n / 3, n % 3, n, n % 4, n.wrapping_mul(3), n % 7, n / 2, n % 6, n, 1, n])
        .collect()
}

pub fn pairs() -> Vec<Vec<u8>> {
    let count = models::all().len() as u8;
    let mut inputs = Vec::new();
    for (n, model) in models::all().iter().enumerate() {
        for (m, other) in models::all().iter().enumerate() {
            if model.family == other.family && n != m {
                inputs.extend([0, 1, 2, 4, 5].map(|way| vec![n as u8, 0, m as u8, 0, way]));
                inputs.push(vec![n as u8, 0, m as u8, 1, 3, n as u8, m as u8, 5]);
            }
        }
    }
    inputs.push(vec![0, 0, count.wrapping_sub(1), 0]);
    inputs
}

pub fn patches() -> Vec<Vec<u8>> {
    super::edit::patches()
}

/// Texts that users write.
const TEXTS: &[(u8, &str)] = &[
    (0, "size > 10k and name ~ \"*.dds\""),
    (0, "not (id = 0x2A or path ~ 'a/*') and size <= 1.5M"),
    (1, "name is null or name like \"a%\" and name =~ /^a.*b$/"),
    (2, "key in (1, 2, 0xFF) and value != -1e300"),
    (3, "SELECT * FROM resources WHERE path LIKE 'content/%' ORDER BY size DESC LIMIT 5"),
    (3, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i, hex(i) FROM n"),
    (3, "SELECT json_extract(v, '$.a[0]'), count(*) OVER (PARTITION BY 1) FROM (SELECT json('{\"a\":[1]}') AS v)"),
    (4, "ATTACH 'x.db' AS y; PRAGMA writable_schema = 1; SELECT load_extension('x'); VACUUM INTO 'z'"),
    (4, "SELECT a.name, b.name FROM boxes a JOIN boxes b USING (name) GROUP BY 1 HAVING count(*) > 0"),
    (4, "SELECT group_concat(name, ';'), max(rowid), total(1) FROM pragma_table_info('paths')"),
    (5, "*.{dds,png}"),
    (5, "**/ship/[a-z]?_*"),
    (5, "(?i)^(a|b)+\\d{2,3}$"),
    (6, "GAME@7000000:content/assets.bin"),
    (6, "0x0123456789ABCDEF"),
    (6, "sName,u8Level,fRate,s16Text"),
    (7, "{\"a\":[1,-2.5e10,null,true,\"\\u0041\"],\"b\":{\"c\":{}}}"),
];

pub fn texts() -> Vec<Vec<u8>> {
    let each =
        TEXTS.iter().flat_map(|(kind, text)| [0, 1, 5, 7].map(|which| [&[*kind, which], text.as_bytes()].concat()));
    each.collect()
}

/// Words of the formats, of SQL and of conditions, one a line as libFuzzer takes them.
pub fn dictionary() -> String {
    let mut words: BTreeSet<Vec<u8>> = BTreeSet::new();
    for model in models::all() {
        words.insert(model.bytes.iter().take(8).copied().collect());
        let Ok(asset) = assetq::Asset::open(assetq::Source::from_vec(model.name, model.bytes.clone())) else {
            continue;
        };
        for table in asset.reader().tables() {
            words.insert(table.name().as_bytes().to_vec());
            words.extend(table.columns().iter().map(|column| column.name.as_bytes().to_vec()));
        }
    }
    for (_, text) in TEXTS {
        words.extend(text.split(' ').map(|word| word.as_bytes().to_vec()));
    }
    for word in
        ["ENCD", "\"table\":", "\"change\":\"changed\"", "\"key\":", "\"old\":", "\"new\":", "$type", "res_mods"]
    {
        words.insert(word.into());
    }
    let line = |word: &Vec<u8>| {
        let escaped: String = word.iter().map(|byte| format!("\\x{byte:02X}")).collect();
        format!("\"{escaped}\"\n")
    };
    words.iter().filter(|word| (1..=64).contains(&word.len())).map(line).collect()
}
