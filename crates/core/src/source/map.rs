//! The map, and the guard against mapped files that become shorter. The only `unsafe` code of the crate's base.
#![allow(unsafe_code)]

use bytes::Bytes;
use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io;
use std::path::Path;

/// Maps all of `file`, which is not empty and lies at `path`. The map is private, because some network drives have no shared
/// maps. Nothing writes to it, so that it takes no memory of its own; Windows would reserve such memory.
pub(super) fn map(file: &File, name: &str, path: &Path) -> io::Result<Bytes> {
    // SAFETY: the map is read-only and private to this process's reads. Another process may still change or shorten
    // the file: changed bytes are only ever read as plain integers and checked before use, and no reference to them
    // is handed out as anything with invalid values (text is validated where it is borrowed; a later change could
    // make it invalid, which every user of memory maps accepts by mapping); access past a new end raises SIGBUS,
    // for which `exit_when_a_mapped_file_shrinks` exists.
    let mmap = unsafe {
        if cfg!(windows) { MmapOptions::new().map(file)? } else { MmapOptions::new().map_copy_read_only(file)? }
    };
    let origin = Box::new(faults::MapOrigin::new(name, path, file)?);
    let slot = faults::register(&mmap, &origin);
    Ok(Bytes::from_owner(Mapped { slot, mmap, _origin: origin }))
}

struct Mapped {
    slot: &'static faults::MapSlot,
    mmap: Mmap,
    /// The fault handler reads it while the slot is in use.
    _origin: Box<faults::MapOrigin>,
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.mmap
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        faults::unregister(self.slot);
    }
}

/// From now on, reading a mapped file past an end that has moved ends the process with one line on standard error
/// and exit code 4, instead of a crash. For commands; does nothing on systems that do not let a mapped file shrink.
pub fn exit_when_a_mapped_file_shrinks() {
    faults::install();
}

#[cfg(unix)]
mod faults {
    use crate::escape::escape;
    use memmap2::Mmap;
    use std::ffi::CString;
    use std::fs::File;
    use std::io;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

    /// One map, as far as the signal handler needs to know it. `len` 0 marks a free slot, `usize::MAX` one being written.
    pub(super) struct MapSlot {
        len: AtomicUsize,
        start: AtomicUsize,
        origin: AtomicPtr<MapOrigin>,
    }

    pub(super) struct MapOrigin {
        /// Its name, escaped for a terminal.
        name: Box<str>,
        path: CString,
        device: u64,
        number: u64,
    }

    impl MapOrigin {
        pub(super) fn new(name: &str, path: &Path, file: &File) -> io::Result<Self> {
            let (path, meta) = (CString::new(path.as_os_str().as_bytes())?, file.metadata()?);
            Ok(Self { name: escape(name).into(), path, device: meta.dev(), number: meta.ino() })
        }

        /// Whether the file is still at its path and has fewer than `len` bytes. Async-signal-safe.
        #[allow(clippy::unnecessary_cast, reason = "the types of the fields differ between systems")]
        fn is_shorter_than(&self, len: usize) -> bool {
            // SAFETY: a zeroed `stat` is a valid value of the C struct, the path is a C string, and `stat` is
            // async-signal-safe.
            let now = unsafe {
                let mut now: libc::stat = std::mem::zeroed();
                (libc::stat(self.path.as_ptr(), &raw mut now) == 0).then_some(now)
            };
            now.is_some_and(|now| {
                (now.st_dev as u64, now.st_ino as u64) == (self.device, self.number)
                    && u64::try_from(now.st_size).is_ok_and(|size| size < len as u64)
            })
        }
    }

    const FREE: usize = 0;
    const BUSY: usize = usize::MAX;

    impl MapSlot {
        const fn free() -> Self {
            Self {
                len: AtomicUsize::new(FREE),
                start: AtomicUsize::new(0),
                origin: AtomicPtr::new(std::ptr::null_mut()),
            }
        }
    }

    /// The slots of one block, and the next block. There are as many slots as files were ever mapped at once. No slot
    /// is ever freed, so that the handler may read them at any time.
    struct Slots {
        here: [MapSlot; 256],
        more: OnceLock<&'static Slots>,
    }

    impl Slots {
        const fn new() -> Self {
            Self { here: [const { MapSlot::free() }; 256], more: OnceLock::new() }
        }
    }

    static SLOTS: Slots = Slots::new();

    fn free_slot() -> &'static MapSlot {
        let mut slots = &SLOTS;
        loop {
            let free = slots.here.iter().find(|slot| {
                slot.len.load(Ordering::Relaxed) == FREE
                    && slot.len.compare_exchange(FREE, BUSY, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            });
            if let Some(slot) = free {
                return slot;
            }
            slots = slots.more.get_or_init(|| Box::leak(Box::new(Slots::new())));
        }
    }

    pub(super) fn register(map: &Mmap, origin: &MapOrigin) -> &'static MapSlot {
        let slot = free_slot();
        slot.start.store(map.as_ptr().addr(), Ordering::Relaxed);
        slot.origin.store(std::ptr::from_ref(origin).cast_mut(), Ordering::Relaxed);
        slot.len.store(map.len(), Ordering::Release);
        slot
    }

    pub(super) fn unregister(slot: &MapSlot) {
        slot.len.store(FREE, Ordering::Release);
    }

    /// The map that contains `address`, its length, and the offset in it. Each field of a slot is read once, because another
    /// thread may free the slot meanwhile and use it for another map.
    fn mapped_at(address: usize) -> Option<(&'static MapSlot, usize, usize)> {
        let all = std::iter::successors(Some(&SLOTS), |slots| slots.more.get().copied());
        all.flat_map(|slots| &slots.here).find_map(|slot| {
            let len = slot.len.load(Ordering::Acquire);
            let offset = address.wrapping_sub(slot.start.load(Ordering::Relaxed));
            (len != FREE && len != BUSY && offset < len).then_some((slot, len, offset))
        })
    }

    pub(super) fn install() {
        // SAFETY: a zeroed `sigaction` is a valid value of the C struct; every field that matters is set below. The
        // handler has the signature that SA_SIGINFO asks for and calls only async-signal-safe functions.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_sigbus;
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
        }
    }

    /// Whether a thread is ending the process.
    static SAID: AtomicBool = AtomicBool::new(false);

    extern "C" fn on_sigbus(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the kernel passes a valid siginfo for a handler installed with SA_SIGINFO.
        let address = unsafe { (*info).si_addr() }.addr();
        if let Some((slot, len, offset)) = mapped_at(address) {
            let mut digits = [0u8; 16];
            let mut rest = offset;
            for digit in digits.iter_mut().rev() {
                *digit = *b"0123456789abcdef".get(rest & 15).unwrap_or(&b'?');
                rest >>= 4;
            }
            let (_, digits) = digits.split_at(digits.iter().position(|&d| d != b'0').unwrap_or(15));
            // SAFETY: `Mapped` keeps the origin alive while the slot is taken, and the faulting access holds the map.
            let origin = unsafe { &*slot.origin.load(Ordering::Relaxed) };
            let what: &[u8] = if origin.is_shorter_than(len) {
                b": the file became shorter while it was mapped; --no-mmap reads it instead (at offset 0x"
            } else {
                b": the system cannot read a mapped byte of the file (at offset 0x"
            };
            end_process(&[b"assetq: ", origin.name.as_bytes(), what, digits, b")\n"]);
        }
        // Not one of our maps: let the default action happen when the access is tried again.
        // SAFETY: `signal` with SIG_DFL is async-signal-safe.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
    }

    /// Writes one line, removes unfinished files and ends the process as one that cannot read. Async-signal-safe.
    fn end_process(line: &[&[u8]]) -> ! {
        // If several threads reach the end at once, one of them reports it and ends the process.
        if SAID.swap(true, Ordering::Relaxed) {
            loop {
                // SAFETY: `pause` is async-signal-safe.
                unsafe { libc::pause() };
            }
        }
        line.iter().for_each(|part| write_stderr(part));
        crate::source::signals::remove_unfinished();
        // SAFETY: `_exit` is async-signal-safe and does not return.
        unsafe { libc::_exit(4) };
    }

    fn write_stderr(bytes: &[u8]) {
        // SAFETY: the pointer and length come from a live slice. A short or failed write changes nothing that matters.
        unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::Source;
        use std::io::Write as _;

        #[test]
        fn every_map_is_known_however_many_there_are() {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&[7; 5000]).unwrap();
            let maps: Vec<Source> = (0..1501).map(|_| Source::open(file.path()).unwrap()).collect();
            for map in &maps {
                let (_, len, offset) = mapped_at(map.bytes()[42..].as_ptr().addr()).unwrap();
                assert_eq!((len, offset), (5000, 42));
            }
            let last = maps[1500].bytes().as_ptr().addr();
            drop(maps);
            assert!(mapped_at(last).is_none());
        }

        #[test]
        fn a_file_is_shorter_only_if_it_is_the_mapped_one_and_has_fewer_bytes() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a\u{1b}[31m.bin");
            std::fs::write(&path, [7; 100]).unwrap();
            let file = File::options().read(true).write(true).open(&path).unwrap();
            let origin = MapOrigin::new(&path.to_string_lossy(), &path, &file).unwrap();
            assert!(origin.name.ends_with("a\\u{1b}[31m.bin"), "{}", origin.name);
            assert!(!origin.is_shorter_than(100));
            file.set_len(99).unwrap();
            assert!(origin.is_shorter_than(100));
            // Of another file with this name nothing is known, and nothing of a missing one.
            std::fs::rename(&path, folder.path().join("moved")).unwrap();
            assert!(!origin.is_shorter_than(100));
            std::fs::write(&path, [7; 10]).unwrap();
            assert!(!origin.is_shorter_than(100));
        }
    }
}

#[cfg(not(unix))]
mod faults {
    pub(super) struct MapSlot;
    pub(super) struct MapOrigin;
    impl MapOrigin {
        pub(super) fn new(_: &str, _: &std::path::Path, _: &std::fs::File) -> std::io::Result<Self> {
            Ok(Self)
        }
    }
    pub(super) fn register(_: &memmap2::Mmap, _: &MapOrigin) -> &'static MapSlot {
        &MapSlot
    }
    pub(super) fn unregister(_: &MapSlot) {}
    pub(super) fn install() {}
}
