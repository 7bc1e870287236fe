//! Detection of formats.

use assetq::formats::reader::Likeness;
use assetq::formats::{FileFormat, Reader};
use assetq::table::Table;
use assetq::{Format, Options, Result, Source, formats};
use assetq_sample::{FILES, Size};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A format whose code looks at the head of a file again, while another thread adds a format.
#[derive(Debug)]
struct Nested(Source);

const MAGIC: &[u8] = b"a file in a file: ";

impl Reader for Nested {
    fn source(&self) -> &Source {
        &self.0
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        Vec::new()
    }
}

impl FileFormat for Nested {
    const NAME: &'static str = "nested";

    fn likeness(data: &[u8]) -> Likeness {
        let Some(inner) = data.strip_prefix(MAGIC) else { return Likeness::No };
        thread::scope(|scope| scope.spawn(|| Format::of::<Self>().add()).join()).unwrap();
        Likeness::by_magic(Format::detect(&Source::from_vec("inner", inner.to_vec())).is_ok())
    }

    fn open_as(source: Source, _: &Options) -> Result<Self> {
        Ok(Self(source))
    }
}

#[test]
fn a_format_detects_the_format_of_another_file_while_a_format_is_added() {
    Format::of::<Nested>().add();
    let (_, inner, make) = FILES[0];
    assert_eq!(Format::detect(&Source::from_vec("x", make(1, Size::Small))).unwrap(), inner);
    let (done, waits) = mpsc::channel();
    thread::spawn(move || {
        let bytes = [MAGIC, &make(1, Size::Small)].concat();
        done.send(Format::detect(&Source::from_vec("x", bytes)).unwrap())
    });
    assert_eq!(waits.recv_timeout(Duration::from_secs(60)).unwrap().name(), "nested");
}

#[test]
fn a_file_is_told_without_its_name() {
    for (name, format, make) in FILES {
        assert_eq!(Format::detect(&Source::from_vec("x", make(1, Size::Small))).unwrap(), *format, "{name}");
    }
}

/// Other games and programs use the same endings: a model of Space Engineers 2 is JSON.
#[test]
fn a_text_model_is_told_by_its_bytes_too() {
    let detected = |name: &str, bytes: &[u8]| Format::detect(&Source::from_vec(name, bytes.to_vec())).ok();
    for (ending, format) in [
        ("visual", formats::wows::VISUAL),
        ("model", formats::wows::MODEL),
        ("mfm", formats::wows::MFM),
        ("info", formats::wows::INFO),
    ] {
        let name = format!("Turret.{ending}");
        for foreign in ["{ \"$Type\": \"VRage:Model\" }", "", " \n", "-- <x>", "\0\u{1}<", "<!-- a --> b"] {
            assert_eq!(detected(&name, foreign.as_bytes()), None, "{name}: {foreign:?}");
        }
        let text = format!("<{name}>\n</{name}>\n");
        for before in ["", "\u{feff}", " \r\n\t", "<!-- a > b -->", "\u{feff}\n<!--a--><!--b-->\n", "<?xml?>"] {
            assert_eq!(detected(&name, format!("{before}{text}").as_bytes()), Some(format), "{name}: {before:?}");
        }
        assert_eq!(detected("x", format!("<!-- {} -->{text}", "a".repeat(999)).as_bytes()), Some(format), "{name}");
        for damaged in ["<", "<!--", "<!-- a -->", "<a></b>"] {
            assert_eq!(detected(&name, damaged.as_bytes()), Some(format), "{name}: {damaged:?}");
        }
        assert_eq!(detected(&name, &[0x45, 0x4E, 0xA1, 0x62, 0]), Some(format), "{name}: packed");
    }
}

#[test]
fn a_real_file_is_told_without_its_name() {
    let Some(samples) = std::env::var_os("ASSETQ_SAMPLES") else {
        return eprintln!("skipped: ASSETQ_SAMPLES is not set");
    };
    let folders = [
        ("geometry", formats::wows::GEOMETRY),
        ("models_bin", formats::wows::MODELS),
        ("space_bin", formats::wows::SPACE),
        ("splash", formats::wows::SPLASH),
        ("vrb", formats::vrage::VRB),
        ("wdb", formats::ff13::WDB),
        ("wpd", formats::ff13::WPD),
    ];
    for (folder, format) in folders {
        for entry in std::fs::read_dir(std::path::Path::new(&samples).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(Format::detect(&Source::from_vec("x", bytes)).unwrap(), format, "{}", path.display());
        }
    }
}
