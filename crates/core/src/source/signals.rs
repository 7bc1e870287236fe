//! Unfinished files, which are removed when a signal ends the process during a write; and the terminal, whose settings
//! are then restored.
//!
//! A signal can interrupt any code, including the allocator, so its handler may neither allocate nor lock: the names
//! are C strings in a list that only grows, and the code that swaps a name out of its slot owns the name.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io;
use std::path::Path;

/// From now on a signal that ends the process (an interrupt, the end of the session, an abort as when memory runs out)
/// first removes the files that are being written. On Windows these are the close of the console and the end of the
/// session. For commands.
pub fn remove_unfinished_when_ended() {
    list::catch_signals();
}

/// From now on an allocation that fails ends the process with exit code 4 instead of a crash, after the line on standard
/// error with its size. For commands whose allocator is [`Allocator`]; does nothing on systems without signals.
pub fn exit_when_memory_runs_out() {
    list::catch_abort();
}

thread_local! {
    /// Whether an allocation of the thread has failed. It stays so: the message before an abort allocates more, and may succeed.
    /// Async-signal-safe: a value without initializer and destructor.
    static FAILED: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator, which notes an allocation that failed: this distinguishes an abort for lack of
/// memory from other aborts.
#[derive(Debug, Clone, Copy)]
pub struct Allocator;

impl Allocator {
    fn noted(allocated: *mut u8) -> *mut u8 {
        if allocated.is_null() {
            FAILED.set(true);
        }
        allocated
    }
}

// SAFETY: all calls go to the system's allocator as they come. To set a flag without initializer allocates nothing.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        Self::noted(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        Self::noted(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        Self::noted(unsafe { System.realloc(block, layout, size) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) };
    }
}

/// From now on a file that grows beyond the limit that the process has for it is an error of writing, no signal.
pub fn keep_running_at_size_limits() {
    list::ignore_size_limits();
}

/// After this call, a signal that ends the process restores the terminal settings of now, because a prompt changes them
/// while it reads. Signals that are handled already are left alone.
pub fn restore_terminal_when_ended() {
    list::keep_terminal();
    list::catch_signals();
}

/// Removes all files that are being written. No further one is begun.
pub fn remove_unfinished() {
    list::remove_all();
}

/// A folder that is being filled. A signal that ends the process before this is dropped removes the folder.
#[derive(Debug, Default)]
pub struct UnfinishedFolder {
    entries: Vec<list::Entered>,
}

impl UnfinishedFolder {
    /// Registers the folder, or a folder or file in it, before its creation.
    ///
    /// # Errors
    /// As [`Unfinished::register`].
    pub fn add(&mut self, path: &Path) -> io::Result<()> {
        // Without signals the folder is removed with all that is in it.
        if cfg!(unix) || self.entries.is_empty() {
            self.entries.push(list::enter_in_folder(path, self.entries.last())?);
        }
        Ok(())
    }

    /// Leaves the folder to the caller.
    ///
    /// # Errors
    /// When the process is ending, which may have removed a part of it already.
    pub fn finish(self) -> io::Result<()> {
        drop(self);
        list::check_running()
    }
}

/// A file that is being written, removed when a signal ends the process before this is dropped.
#[derive(Debug)]
pub struct Unfinished {
    _entry: list::Entered,
}

impl Unfinished {
    /// Registers the file at `path`, before its creation.
    ///
    /// # Errors
    /// When the process is ending, and for a path with a NUL in it.
    pub fn register(path: &Path) -> io::Result<Self> {
        Ok(Self { _entry: list::enter(path)? })
    }
}

#[cfg(unix)]
mod list {
    use std::ffi::{CString, c_char, c_int};
    use std::io;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
    use std::sync::{Once, OnceLock};

    /// A place for one name, null while it is free.
    #[derive(Debug)]
    pub(super) struct Entry {
        path: AtomicPtr<c_char>,
        next: OnceLock<&'static Entry>,
    }

    impl Entry {
        const fn free() -> Self {
            Self { path: AtomicPtr::new(null_mut()), next: OnceLock::new() }
        }
    }

    /// Files that are being written.
    static FIRST: Entry = Entry::free();
    /// Folders that are being filled, and what is in them.
    static FIRST_IN_FOLDER: Entry = Entry::free();
    static ENDING: AtomicBool = AtomicBool::new(false);

    /// A name in the list for as long as this lives.
    #[derive(Debug)]
    pub(super) struct Entered(&'static Entry);

    pub(super) fn enter(path: &Path) -> io::Result<Entered> {
        enter_from(&FIRST, path)
    }

    /// Registers a path after another path of its folder, because it must be removed first.
    pub(super) fn enter_in_folder(path: &Path, after: Option<&Entered>) -> io::Result<Entered> {
        enter_from(after.map_or(&FIRST_IN_FOLDER, |after| after.0), path)
    }

    fn enter_from(first: &'static Entry, path: &Path) -> io::Result<Entered> {
        let path = CString::new(path.as_os_str().as_bytes())?.into_raw();
        let mut entry = first;
        while entry.path.compare_exchange(null_mut(), path, Ordering::SeqCst, Ordering::Relaxed).is_err() {
            entry = entry.next.get_or_init(|| Box::leak(Box::new(Entry::free())));
        }
        let entered = Entered(entry);
        // Either the handler sees the name, or its mark is seen here.
        check_running().map(|()| entered)
    }

    pub(super) fn check_running() -> io::Result<()> {
        match ENDING.load(Ordering::SeqCst) {
            true => Err(io::Error::new(io::ErrorKind::Interrupted, "the process is ending")),
            false => Ok(()),
        }
    }

    impl Drop for Entered {
        fn drop(&mut self) {
            let path = self.0.path.swap(null_mut(), Ordering::SeqCst);
            if !path.is_null() {
                // SAFETY: only `enter` stores pointers in the slots, of `CString::into_raw`; the code that swaps one
                // out is its only owner.
                drop(unsafe { CString::from_raw(path) });
            }
        }
    }

    /// Async-signal-safe.
    fn entries(first: &'static Entry) -> impl Iterator<Item = &'static Entry> {
        std::iter::successors(Some(first), |entry| entry.next.get().copied())
    }

    /// Async-signal-safe.
    pub(super) fn remove_all() {
        ENDING.store(true, Ordering::SeqCst);
        for entry in entries(&FIRST) {
            let path = entry.path.swap(null_mut(), Ordering::SeqCst);
            if !path.is_null() {
                // SAFETY: a C string that was swapped out and is never freed; `unlink` is async-signal-safe.
                unsafe { libc::unlink(path) };
            }
        }
        // A folder can be removed once it is empty.
        while remove_in_folders() {}
    }

    /// Removes what can be removed; returns whether there was anything.
    fn remove_in_folders() -> bool {
        let mut any = false;
        for entry in entries(&FIRST_IN_FOLDER) {
            let path = entry.path.swap(null_mut(), Ordering::SeqCst);
            if !path.is_null() {
                // SAFETY: a C string that was swapped out; `unlink` and `rmdir` are async-signal-safe.
                let is_removed = unsafe { libc::unlink(path) == 0 || libc::rmdir(path) == 0 };
                any |= is_removed;
                if !is_removed {
                    // A slot that was taken meanwhile keeps its name, and this one is never freed.
                    let _ = entry.path.compare_exchange(null_mut(), path, Ordering::SeqCst, Ordering::Relaxed);
                }
            }
        }
        any
    }

    /// Signals that request the end of the process. Its exit code is then 128 plus the signal number, as in shells.
    const REQUESTS: [c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
    /// Signals after which a process ends as it would have without a handler. `on_abort` is for one more.
    const FAULTS: [c_int; 2] = [libc::SIGQUIT, libc::SIGXCPU];

    pub(super) fn catch_signals() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| REQUESTS.into_iter().chain(FAULTS).for_each(|signal| catch(signal, on_signal)));
        catch_abort();
    }

    pub(super) fn catch_abort() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| catch(libc::SIGABRT, on_abort));
    }

    fn catch(signal: c_int, handler: extern "C" fn(c_int)) {
        // SAFETY: zeroed `sigaction`s are valid values of the C struct. The handler has the signature that is asked for and
        // calls only async-signal-safe functions.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let mut old: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_RESETHAND;
            libc::sigaction(signal, std::ptr::null(), &raw mut old);
            // The parent process may have disabled some signals, as `nohup` does.
            if old.sa_sigaction == libc::SIG_DFL {
                libc::sigaction(signal, &raw const action, null_mut());
            }
        }
    }

    pub(super) fn ignore_size_limits() {
        // SAFETY: to ignore a signal runs no code.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    }

    /// The settings that the terminal is to have in the end.
    static TERMINAL: OnceLock<libc::termios> = OnceLock::new();

    pub(super) fn keep_terminal() {
        // SAFETY: a zeroed `termios` is a valid value of the C struct, which `tcgetattr` fills.
        let settings = unsafe {
            let mut settings: libc::termios = std::mem::zeroed();
            (libc::tcgetattr(libc::STDIN_FILENO, &raw mut settings) == 0).then_some(settings)
        };
        if let Some(settings) = settings {
            let _ = TERMINAL.set(settings);
        }
    }

    /// Async-signal-safe.
    fn restore_terminal() {
        /// Pasted text is no longer marked.
        const PLAIN_PASTE: &[u8] = b"\x1b[?2004l\r\n";
        let Some(settings) = TERMINAL.get() else { return };
        // SAFETY: these functions are async-signal-safe, and the pointers are to static values. A process in the
        // background would be stopped, and does not own the terminal then.
        unsafe {
            if libc::tcgetpgrp(libc::STDIN_FILENO) == libc::getpgrp() {
                libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, settings);
                libc::write(libc::STDIN_FILENO, PLAIN_PASTE.as_ptr().cast(), PLAIN_PASTE.len());
            }
        }
    }

    extern "C" fn on_signal(signal: c_int) {
        remove_all();
        restore_terminal();
        if REQUESTS.contains(&signal) {
            // SAFETY: `_exit` is async-signal-safe and does not return.
            unsafe { libc::_exit(signal | 128) };
        }
        // SAFETY: `raise` is async-signal-safe. The handler was reset before it ran, so that the default action follows.
        unsafe { libc::raise(signal) };
    }

    /// Without memory a process aborts itself; any other abort remains an abort.
    extern "C" fn on_abort(signal: c_int) {
        // The C library, SQLite and the handles of threads allocate past the allocator, which leaves this number.
        let is_out_of_memory = super::FAILED.get() || io::Error::last_os_error().raw_os_error() == Some(libc::ENOMEM);
        remove_all();
        restore_terminal();
        if is_out_of_memory {
            // SAFETY: `_exit` is async-signal-safe and does not return.
            unsafe { libc::_exit(4) };
        }
        // SAFETY: as in `on_signal`.
        unsafe { libc::raise(signal) };
    }
}

#[cfg(not(unix))]
mod list {
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

    fn all() -> MutexGuard<'static, Vec<PathBuf>> {
        ALL.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[derive(Debug)]
    pub(super) struct Entered(PathBuf);

    pub(super) fn enter(path: &Path) -> io::Result<Entered> {
        all().push(path.to_owned());
        Ok(Entered(path.to_owned()))
    }

    pub(super) fn enter_in_folder(path: &Path, _: Option<&Entered>) -> io::Result<Entered> {
        enter(path)
    }

    /// A process that is ending has waited for the list before.
    pub(super) fn check_running() -> io::Result<()> {
        Ok(())
    }

    impl Drop for Entered {
        fn drop(&mut self) {
            all().retain(|path| *path != self.0);
        }
    }

    pub(super) fn remove_all() {
        let all = all();
        for path in &*all {
            // A file that does not exist is not left over.
            let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir_all(path));
        }
        // Kept locked, so that no further file is begun.
        std::mem::forget(all);
    }

    #[cfg(not(windows))]
    pub(super) fn catch_signals() {}

    #[cfg(windows)]
    pub(super) fn catch_signals() {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            // SAFETY: the handler has the signature of one, and is there as long as the process.
            // Without it a closed console leaves parts of files, never half a file under its name.
            unsafe { SetConsoleCtrlHandler(Some(on_console_event), 1) };
        });
    }

    #[cfg(windows)]
    type Handler = unsafe extern "system" fn(u32) -> i32;

    #[cfg(windows)]
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn SetConsoleCtrlHandler(handler: Option<Handler>, add: i32) -> i32;
    }

    /// Runs in a thread of its own, so that it may lock. Windows calls the last added handler first, and ends the process
    /// once a handler returns from a closed console, the end of the session, or a shutdown.
    #[cfg(windows)]
    unsafe extern "system" fn on_console_event(event: u32) -> i32 {
        const CLOSE: u32 = 2;
        // Ctrl-C and Ctrl-Break are left to the handler of the command.
        if event >= CLOSE {
            remove_all();
        }
        0
    }

    pub(super) fn catch_abort() {}

    pub(super) fn keep_terminal() {}

    pub(super) fn ignore_size_limits() {}
}
