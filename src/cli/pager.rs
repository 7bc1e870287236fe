//! The pager, through which commands that answer questions write on a terminal.
//!
//! It is started with the first output. Progress bars end then, and messages wait until the pager has ended, as they would
//! be written over its screen.

use super::progress;
use crate::atomic_file::AtomicFile;
use crate::threads::lock;
use crate::write::text::escape;
use std::io::{self, IsTerminal as _, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// The pager that is used if the user names none. It ends by itself if the output fits on the screen, keeps the output
/// on the screen, and passes colours on.
const DEFAULT: &str = "less";
/// Options of `less` unless the user has set some.
const LESS: (&str, &str) = ("LESS", "FRX");
/// As [`LESS`], for tables that are wider than the terminal: long lines are not wrapped but scrolled to.
const LESS_WIDE: (&str, &str) = ("LESS", "FRXS");
/// The size of messages that are held until the pager ends. Later ones are shown at once.
const MESSAGES: usize = 1 << 20;

/// Whether a pager has the terminal.
static RUNNING: AtomicBool = AtomicBool::new(false);
/// Messages that wait for its end.
static MESSAGES_LATER: Mutex<String> = Mutex::new(String::new());

/// Whether a pager has the terminal.
pub(super) fn is_running() -> bool {
    RUNNING.load(Ordering::Acquire)
}

/// Writes a line to standard error, or keeps it until the pager has ended.
pub(super) fn message(line: &str) {
    if is_running() && io::stderr().is_terminal() {
        let mut later = lock(&MESSAGES_LATER);
        if later.len() + line.len() < MESSAGES {
            later.push_str(line);
            later.push('\n');
            return;
        }
    }
    // A failure of standard error cannot be reported.
    let _ = progress::aside(|| writeln!(io::stderr(), "{line}"));
}

/// Standard output, through a pager if one is wanted.
#[derive(Clone, Default)]
pub(super) struct Pager(Arc<Mutex<State>>);

#[derive(Default)]
enum State {
    /// Output goes directly to standard output.
    #[default]
    Off,
    /// The first output starts the pager. Tables may be wider than the terminal if `wide`.
    Waiting {
        wide: bool,
        leave: Leave,
    },
    /// Output goes into this file.
    File(Box<AtomicFile>),
    Running {
        input: ChildStdin,
        end: JoinHandle<io::Result<ExitStatus>>,
        closed: Arc<AtomicBool>,
        leave: Leave,
    },
}

/// The consequence when the user leaves the pager before the end of the output.
#[derive(Clone)]
enum Leave {
    /// The process ends: the rest of the work is for no reader.
    Process,
    /// This is called, and further output of the answer is dropped.
    #[cfg_attr(not(feature = "terminal"), allow(dead_code, reason = "of answers at the prompt"))]
    Answer(Arc<dyn Fn() + Send + Sync>),
}

impl State {
    /// Waits for output if standard output is a terminal that a pager can work on.
    fn on_terminal(wide: bool, leave: Leave) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        if io::stdout().is_terminal() && !is_dumb { Self::Waiting { wide, leave } } else { Self::Off }
    }
}

impl Pager {
    /// A pager if standard output is a terminal that one can work on.
    pub(super) fn on_terminal(wide: bool) -> Self {
        Self(Arc::new(Mutex::new(State::on_terminal(wide, Leave::Process))))
    }

    /// Starts a pager again at the next output. `stop` is called if the user leaves it before the end.
    #[cfg(feature = "terminal")]
    pub(super) fn restart(&self, wide: bool, stop: Arc<dyn Fn() + Send + Sync>) {
        *lock(&self.0) = State::on_terminal(wide, Leave::Answer(stop));
    }

    /// Has further output go into `file`.
    pub(super) fn divert(&self, file: AtomicFile) {
        *lock(&self.0) = State::File(Box::new(file));
    }

    /// Has further output go to standard output again. Returns the file of [`Pager::divert`].
    pub(super) fn diverted(&self) -> Option<AtomicFile> {
        match std::mem::take(&mut *lock(&self.0)) {
            State::File(file) => Some(*file),
            _ => None,
        }
    }

    /// Waits until the user has left the pager, and shows the messages that waited. Returns whether the user left before
    /// the end of the output.
    pub(super) fn finish(&self) -> bool {
        let State::Running { input, end, closed, .. } = std::mem::take(&mut *lock(&self.0)) else { return false };
        let was_left = closed.swap(true, Ordering::AcqRel);
        drop(input);
        if let Ok(Ok(status)) = end.join() {
            ended(status);
        }
        was_left
    }
}

/// Writes to the pager, or to standard output without one.
impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = lock(&self.0);
        if let State::Waiting { wide, leave } = &*state {
            *state = start(*wide, leave.clone());
        }
        let written = match &mut *state {
            State::Running { input, .. } => input.write(bytes),
            State::File(file) => file.write(bytes),
            _ => progress::aside(|| io::stdout().write(bytes)),
        };
        match (written.map_err(closed), &*state) {
            (Err(error), State::Running { leave: Leave::Answer(_), .. })
                if error.kind() == io::ErrorKind::BrokenPipe =>
            {
                Ok(bytes.len())
            }
            (written, _) => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut *lock(&self.0) {
            State::Running { input, .. } => input.flush(),
            State::File(file) => file.flush(),
            _ => progress::aside(|| io::stdout().flush()),
        };
        flushed.map_err(closed)
    }
}

/// `error`, as a closed pipe if Windows calls it a pipe that is not connected.
fn closed(error: io::Error) -> io::Error {
    const NOT_CONNECTED: i32 = 233;
    let is_closed = cfg!(windows) && error.raw_os_error() == Some(NOT_CONNECTED);
    if is_closed { io::ErrorKind::BrokenPipe.into() } else { error }
}

/// Shows what waited for the end of the pager, and whether that could not be run.
fn ended(status: ExitStatus) {
    show_messages();
    // A shell has these for commands that it cannot run.
    if matches!(status.code(), Some(126 | 127)) {
        message("assetq: the pager cannot be run: see $PAGER, or use --no-pager");
    }
}

fn show_messages() {
    RUNNING.store(false, Ordering::Release);
    let later = std::mem::take(&mut *lock(&MESSAGES_LATER));
    later.lines().for_each(message);
}

fn start(wide: bool, leave: Leave) -> State {
    let Some(mut child) = spawn(wide) else { return State::Off };
    let Some(input) = child.stdin.take() else { return State::Off };
    // Ctrl-C is for the pager, which then stops waiting for more output.
    #[cfg(feature = "terminal")]
    let _ = ctrlc::set_handler(|| ());
    RUNNING.store(true, Ordering::Release);
    progress::end();
    let closed = Arc::new(AtomicBool::new(false));
    let (is_closed, left) = (Arc::clone(&closed), leave.clone());
    let waiting = thread::Builder::new().spawn(move || {
        let status = child.wait()?;
        if !is_closed.swap(true, Ordering::AcqRel) {
            match &left {
                Leave::Process => {
                    ended(status);
                    crate::source::signals::remove_unfinished();
                    std::process::exit(0);
                }
                Leave::Answer(stop) => stop(),
            }
        }
        Ok(status)
    });
    match waiting {
        Ok(end) => State::Running { input, end, closed, leave },
        Err(_) => {
            RUNNING.store(false, Ordering::Release);
            State::Off
        }
    }
}

/// The command that `$ASSETQ_PAGER` or `$PAGER` names, else `less` if it is installed. An empty one and `cat` mean none.
fn spawn(wide: bool) -> Option<Child> {
    let named = ["ASSETQ_PAGER", "PAGER"].into_iter().find_map(|name| std::env::var(name).ok());
    let command = named.as_deref().unwrap_or(DEFAULT).trim();
    if matches!(command, "" | "cat") {
        return None;
    }
    let is_plain =
        !command.contains(['|', '&', ';', '<', '>', '(', ')', '$', '`', '\\', '"', '\'', '*', '?', '~', '=']);
    let mut pager = if is_plain {
        let mut words = command.split_whitespace();
        let mut pager = Command::new(words.next()?);
        pager.args(words);
        pager
    } else {
        let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let mut pager = Command::new(shell);
        pager.args([option, command]);
        pager
    };
    for (name, value) in [if wide { LESS_WIDE } else { LESS }, ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            pager.env(name, value);
        }
    }
    match pager.stdin(Stdio::piped()).spawn() {
        Ok(child) => Some(child),
        Err(error) => {
            if named.is_some() {
                message(&format!("assetq: the pager {command:?} cannot be run: {error}"));
            }
            None
        }
    }
}

/// Writes one line to standard error.
pub(super) fn complain(text: &str) {
    message(&format!("assetq: {}", escape(text)));
}
