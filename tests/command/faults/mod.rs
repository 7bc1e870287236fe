//! Faults around a command rather than in a file: disks, signals, and files that change, never end or cannot be read.

#[cfg(target_os = "linux")]
mod changing;
mod ended;
mod places;
mod shown;

use assetq_sample::Size;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Each command that reads a file. FILE is the file, KNOWN another one that is whole, and OUT an empty folder; `+` is a
/// blank.
pub const READING: &[&str] = &[
    "info FILE",
    "ls FILE -f csv",
    "ls FILE --tree",
    "cat FILE content",
    "verify FILE",
    "find e FILE",
    "find -e [aeiou].*x FILE --count",
    "refs 0x1 FILE",
    "refs --dangling FILE",
    "resolve content --db FILE",
    "string diffuseMap --db FILE",
    "diff FILE KNOWN",
    "diff KNOWN FILE -f patch",
    "history content FILE KNOWN",
    "textconv FILE",
    "view FILE --to OUT/x.html",
    "view ship.geometry --with FILE --to OUT/x.htm",
    "export FILE --to OUT/x.csv",
    "export FILE --to OUT/x.parquet",
    "export FILE --to OUT/ --as json --all-tables",
    "export ship.geometry --with FILE --to OUT/x.glb",
    "sql SELECT+*+FROM+paths+ORDER+BY+name FILE",
    "sql SELECT+*+FROM+paths FILE --into OUT/x.sqlite",
    "patch FILE rows.ndjson --to OUT/x",
    "sql UPDATE+resources+SET+state='deleted'+WHERE+state='valid' FILE --to OUT/x",
    "extract FILE --to OUT",
    "snapshot FILE --to OUT/x",
    "info sheet.wdb --names FILE",
    "paths-inside FILE:",
];

/// The sample files, made once, another small database, and one that is large enough to be read for a while.
pub fn samples() -> &'static Path {
    static DIR: OnceLock<TempDir> = OnceLock::new();
    let dir = DIR.get_or_init(|| {
        let dir = TempDir::new().unwrap();
        for (name, _, make) in assetq_sample::FILES {
            fs::write(dir.path().join(name), make(3, Size::Small)).unwrap();
        }
        fs::write(dir.path().join("large.bin"), assetq_sample::bwdb::demo_of(3, 1 << 20)).unwrap();
        fs::write(dir.path().join("other.bin"), assetq_sample::bwdb::demo(4, Size::Small)).unwrap();
        let row = r#"{"table":"resources","change":"changed","key":"0x1","new":{"state":1}}"#;
        fs::write(dir.path().join("rows.ndjson"), row).unwrap();
        dir
    });
    dir.path()
}

/// A command in the folder of the samples, with both of its outputs kept.
pub fn assetq(args: &[impl AsRef<std::ffi::OsStr>]) -> Command {
    let mut command = Command::new(crate::common::program());
    command.current_dir(samples()).args(args).env_remove("ASSETQ_DB").env("ASSETQ_CACHE", samples().join("cache"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The words of a line of [`READING`].
pub fn words(line: &str, file: &str, known: &str, out: &Path) -> Vec<String> {
    let out = out.to_str().unwrap();
    let fill = |word: &str| word.replace('+', " ").replace("FILE", file).replace("KNOWN", known).replace("OUT", out);
    line.split(' ').map(fill).collect()
}

/// How a command ended, and what it said.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

/// Longer than any of these commands takes on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for a command, which must not go on forever.
pub fn end(mut child: Child, what: &str) -> Ended {
    let mut outputs = [
        child.stdout.take().map(|out| Box::new(out) as Box<dyn std::io::Read + Send>),
        child.stderr.take().map(|err| Box::new(err) as Box<dyn std::io::Read + Send>),
    ];
    let [out, err] = outputs.each_mut().map(|output| {
        let output = output.take();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            output.map(|mut output| output.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    });
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{what} goes on after {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(1));
    };
    Ended { status, out: out.join().unwrap(), err: err.join().unwrap() }
}

pub fn run(args: &[impl AsRef<std::ffi::OsStr> + std::fmt::Debug]) -> Ended {
    end(assetq(args).spawn().unwrap(), &format!("{args:?}"))
}

/// Sends a signal to a command; one that has ended takes none.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).stderr(Stdio::null()).status();
    sent.unwrap();
}

pub fn names(dir: &Path) -> BTreeSet<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Says why a test is not made on this machine.
pub fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}
