//! Running the command in a place of its own.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Where a file lies, and how a user names it.
#[derive(Debug)]
pub struct Place {
    /// The argument in place of FILE in a command.
    pub address: String,
    /// The file itself, if it is one of its own and not part of an archive or of a set.
    pub file: Option<PathBuf>,
    /// The folder that holds the file, or everything that the pattern matches.
    pub folder: PathBuf,
    /// The damaged or unreadable files.
    pub lacking: Vec<String>,
    /// An empty folder for outputs.
    pub out: PathBuf,
    /// A number that differs between the states of a file, so that a test takes another way in each.
    pub number: usize,
    _kept: Option<TempDir>,
}

impl Place {
    pub fn new(address: String, file: Option<PathBuf>, folder: PathBuf, kept: Option<TempDir>) -> Self {
        let out = outputs().join(format!("{}", next()));
        fs::create_dir(&out).unwrap();
        Self { address, file, folder, lacking: Vec::new(), out, number: 0, _kept: kept }
    }

    /// A path in the folder of outputs.
    pub fn path(&self, name: &str) -> String {
        self.out.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.out);
    }
}

fn next() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// The folder of all outputs and of the cache.
fn outputs() -> &'static Path {
    static DIR: OnceLock<TempDir> = OnceLock::new();
    DIR.get_or_init(|| TempDir::new().unwrap()).path()
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub line: String,
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Answer {
    /// The command and its error, for a message of a test.
    pub fn shown(&self) -> String {
        let cut = |text: &str| text.chars().take(600).collect::<String>();
        format!("{}: exit {}: {}{}", self.line, self.code, cut(&self.err), cut(&self.out))
    }

    pub fn lines(&self) -> usize {
        self.out.lines().count()
    }
}

/// Runs the command in an empty folder, where no argument names a file by chance.
pub fn assetq<S: AsRef<OsStr>>(args: &[S]) -> Answer {
    static EMPTY: OnceLock<TempDir> = OnceLock::new();
    let empty = EMPTY.get_or_init(|| TempDir::new().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_assetq"));
    command.current_dir(empty.path()).args(args).env_remove("ASSETQ_DB").env("ASSETQ_CACHE", outputs().join("cache"));
    let done = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let line: Vec<String> = args.iter().map(|arg| arg.as_ref().to_string_lossy().into_owned()).collect();
    let answer = Answer {
        line: line.join(" "),
        code: done.status.code().unwrap_or(-1),
        out: text(&done.stdout),
        err: text(&done.stderr),
    };
    assert!((0..=5).contains(&answer.code) && !answer.err.contains("panicked"), "{}", answer.shown());
    answer
}
