//! Pages of a file on a server, fetched on their first use by `userfaultfd` of Linux. See docs/unsafe.md.
#![allow(unsafe_code)]

use super::object::{Object, note_fault};
use crate::bytes::clamp_to_usize;
use crate::error::{Error, Result};
use crate::escape::escape;
use bytes::Bytes;
use memmap2::{Advice, MmapMut, MmapOptions};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use rustix::mm::{UserfaultfdFlags, userfaultfd};
use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read as _};
use std::ops::Range;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes that are fetched for a page that no scan reaches. Larger blocks cost more than they bring: a lookup jumps.
const BLOCK_SIZE: usize = 1 << 14;
const BLOCK: u64 = BLOCK_SIZE as u64;
/// Blocks that are fetched at once at most, in a scan.
const MOST: u64 = (4 << 20) / BLOCK;
/// Scans of one file that are recognised at the same time: of several arrays, by several threads.
const SCANS: usize = 64;
/// Fetches in a row, before further ones of the same scan become larger: a few reads in a row are no scan yet.
const STEADY: u32 = 2;
/// Neighbouring blocks that are fetched together once `BUSY` of them are present: reads without an order, as of a hash map.
const GROUP: u64 = 64;
const BUSY: usize = 16;
/// A fetch that takes longer is followed by shorter ones.
const SLOW: Duration = Duration::from_secs(3);

/// Structs and numbers of `linux/userfaultfd.h`.
#[repr(C)]
struct UffdApi {
    api: u64,
    features: u64,
    ioctls: u64,
}

#[repr(C)]
struct UffdRange {
    start: u64,
    len: u64,
}

#[repr(C)]
struct UffdRegister {
    range: UffdRange,
    mode: u64,
    ioctls: u64,
}

#[repr(C)]
struct UffdCopy {
    dst: u64,
    src: u64,
    len: u64,
    mode: u64,
    copied: i64,
}

const UFFD: u8 = 0xAA;
const API: Opcode = opcode::read_write::<UffdApi>(UFFD, 0x3F);
const REGISTER: Opcode = opcode::read_write::<UffdRegister>(UFFD, 0x00);
const UNREGISTER: Opcode = opcode::read::<UffdRange>(UFFD, 0x01);
const WAKE: Opcode = opcode::read::<UffdRange>(UFFD, 0x02);
const COPY: Opcode = opcode::read_write::<UffdCopy>(UFFD, 0x03);
const REGISTER_MISSING: u64 = 1;
const USER_MODE_ONLY: u32 = 1;
const MESSAGE: usize = 32;
const EVENT_PAGEFAULT: u8 = 0x12;

/// Whether faults end the process.
static ENDS: AtomicBool = AtomicBool::new(false);
/// Whether the system itself cannot read pages that were not fetched before.
static NEEDS_TOUCH: AtomicBool = AtomicBool::new(false);

pub(super) fn end_process_on_faults() {
    ENDS.store(true, Ordering::Relaxed);
}

/// Addresses of a file, and the descriptor by which their pages are filled.
struct Pages {
    map: MmapMut,
    uffd: OwnedFd,
    page: usize,
}

/// The owner of mapped bytes. Its drop ends the thread that fills them.
struct Mapped {
    pages: Arc<Pages>,
    len: usize,
    _object: Arc<Object>,
    _stop: PipeWriter,
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        self.pages.map.split_at(self.len).0
    }
}

/// Maps the file. Its first bytes are `head`, a whole number of blocks. `None` if this system lets the process handle no
/// faults of pages.
pub(super) fn map(object: &Arc<Object>, head: &[u8]) -> Result<Option<Bytes>> {
    let page = rustix::param::page_size();
    if !BLOCK_SIZE.is_multiple_of(page) {
        return Ok(None);
    }
    let Some(uffd) = descriptor() else { return Ok(None) };
    let len = clamp_to_usize(object.len());
    let whole = len.checked_next_multiple_of(page);
    let whole = whole.ok_or_else(|| unmapped(io::ErrorKind::FileTooLarge.into()))?;
    let map = MmapOptions::new().len(whole).no_reserve_swap().map_anon().map_err(unmapped)?;
    // A child process would read zeros.
    map.advise(Advice::DontFork).map_err(unmapped)?;
    let pages = Arc::new(Pages { map, uffd, page });
    if pages.register().is_err() {
        return Ok(None);
    }
    let (stopped, stop) = io::pipe().map_err(unmapped)?;
    let mut filler = Filler {
        pages: Arc::clone(&pages),
        object: Arc::clone(object),
        present: HashSet::new(),
        scans: VecDeque::new(),
    };
    for (block, bytes) in (0..).zip(head.chunks(BLOCK_SIZE)) {
        filler.fill(block, bytes).map_err(unmapped)?;
    }
    thread::Builder::new().name("assetq-remote".into()).spawn(move || filler.run(stopped)).map_err(unmapped)?;
    Ok(Some(Bytes::from_owner(Mapped { pages, len, _object: Arc::clone(object), _stop: stop })))
}

fn unmapped(error: io::Error) -> Error {
    Error::io("cannot map", error)
}

fn unpolled(error: io::Error) -> Error {
    Error::io("cannot wait for pages that are read", error)
}

fn open_descriptor(more: u32) -> Option<OwnedFd> {
    let flags = UserfaultfdFlags::CLOEXEC | UserfaultfdFlags::NONBLOCK | UserfaultfdFlags::from_bits_retain(more);
    // SAFETY: the descriptor is used for our own pages alone, in this file.
    unsafe { userfaultfd(flags) }.ok()
}

/// A new descriptor; without privileges one for faults outside of system calls only.
fn descriptor() -> Option<OwnedFd> {
    let uffd = open_descriptor(0).or_else(|| {
        let restricted = open_descriptor(USER_MODE_ONLY)?;
        NEEDS_TOUCH.store(true, Ordering::Relaxed);
        Some(restricted)
    })?;
    let mut api = UffdApi { api: UFFD.into(), features: 0, ioctls: 0 };
    // SAFETY: UFFDIO_API reads and writes a `uffdio_api`, which `UffdApi` is.
    unsafe { ioctl(&uffd, Updater::<API, UffdApi>::new(&mut api)) }.ok()?;
    Some(uffd)
}

impl Pages {
    fn start(&self) -> usize {
        self.map.as_ptr().addr()
    }

    fn all(&self) -> UffdRange {
        UffdRange { start: self.start() as u64, len: self.map.len() as u64 }
    }

    /// From now on each first use of a page is a fault that the descriptor reports.
    fn register(&self) -> io::Result<()> {
        let mut register = UffdRegister { range: self.all(), mode: REGISTER_MISSING, ioctls: 0 };
        // SAFETY: UFFDIO_REGISTER reads and writes a `uffdio_register`. The range is that of our map, which lives as long
        // as the descriptor, and no page of it was used before.
        unsafe { ioctl(&self.uffd, Updater::<REGISTER, UffdRegister>::new(&mut register)) }?;
        Ok(())
    }

    /// From now on pages that are missing are zeros, as they are without this file's doing. Threads that wait go on.
    fn unregister(&self) {
        let mut range = self.all();
        // SAFETY: UFFDIO_UNREGISTER reads a `uffdio_range`, which is that of our map.
        let _ = unsafe { ioctl(&self.uffd, Updater::<UNREGISTER, UffdRange>::new(&mut range)) };
    }

    /// Lets threads go on that wait for pages in the range, which are there.
    fn wake(&self, at: usize, len: usize) {
        let mut range = UffdRange { start: (self.start() + at) as u64, len: len as u64 };
        // SAFETY: UFFDIO_WAKE reads a `uffdio_range`; a thread without a page waits again.
        let _ = unsafe { ioctl(&self.uffd, Updater::<WAKE, UffdRange>::new(&mut range)) };
    }

    /// Fills missing pages from `at` on with `bytes`, whole pages.
    fn copy(&self, mut at: usize, mut bytes: &[u8]) -> io::Result<()> {
        let is_inside = at.checked_add(bytes.len()).is_some_and(|end| end <= self.map.len());
        if !is_inside || !bytes.len().is_multiple_of(self.page) || !at.is_multiple_of(self.page) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        while !bytes.is_empty() {
            let dst = (self.start() + at) as u64;
            let mut copy =
                UffdCopy { dst, src: bytes.as_ptr().addr() as u64, len: bytes.len() as u64, mode: 0, copied: 0 };
            // SAFETY: UFFDIO_COPY reads and writes a `uffdio_copy`, reads `len` bytes at `src`, which is a live slice of
            // that length, and fills pages of our map only: `dst` and `len` were checked to be inside. It fills no page
            // that is there: bytes that were read never change.
            let done = match unsafe { ioctl(&self.uffd, Updater::<COPY, UffdCopy>::new(&mut copy)) } {
                Ok(()) => bytes.len(),
                // The page is there already.
                Err(Errno::EXIST) => {
                    self.wake(at, self.page);
                    self.page
                }
                // Interrupted in the middle.
                Err(Errno::AGAIN) => clamp_to_usize(copy.copied.max(0).unsigned_abs()).min(bytes.len()),
                Err(error) => return Err(error.into()),
            };
            (at, bytes) = (at + done, bytes.split_at(done).1);
        }
        Ok(())
    }
}

/// The thread that fills pages.
struct Filler {
    pages: Arc<Pages>,
    object: Arc<Object>,
    present: HashSet<u64>,
    scans: VecDeque<Scan>,
}

/// A fetch that a later one may continue.
struct Scan {
    next: u64,
    blocks: u64,
    /// The fetches before it, of the same scan.
    before: u32,
}

impl Filler {
    fn run(mut self, stopped: PipeReader) {
        if let Err(error) = self.serve_all(&stopped) {
            self.fail(error);
        }
    }

    /// Answers faults until the bytes are dropped.
    fn serve_all(&mut self, stopped: &PipeReader) -> Result<()> {
        let pages = Arc::clone(&self.pages);
        let mut messages = File::from(pages.uffd.try_clone().map_err(unpolled)?);
        loop {
            let mut waiting =
                [PollFd::new(&pages.uffd, PollFlags::IN), PollFd::from_borrowed_fd(stopped.as_fd(), PollFlags::IN)];
            match poll(&mut waiting, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(unpolled(error.into())),
            }
            let [_, stop] = waiting;
            if !stop.revents().is_empty() {
                return Ok(());
            }
            let mut message = [0; MESSAGE];
            match messages.read(&mut message) {
                Ok(MESSAGE) => {}
                // Another fetch brought the page.
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                    continue;
                }
                Ok(_) => return Err(unpolled(io::ErrorKind::InvalidData.into())),
                Err(error) => return Err(unpolled(error)),
            }
            if let [EVENT_PAGEFAULT, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, address @ ..] = message {
                let (address, _) = address.split_first_chunk().unwrap_or((&[0; 8], &[]));
                #[allow(clippy::host_endian_bytes, reason = "a message of the system of this machine")]
                let address = u64::from_ne_bytes(*address);
                self.serve((address - pages.start() as u64) / BLOCK)?;
            }
        }
    }

    /// Fetches the block, and those after it if a scan reads on.
    fn serve(&mut self, block: u64) -> Result<()> {
        if self.present.contains(&block) {
            let at = clamp_to_usize(block * BLOCK);
            self.pages.wake(at, BLOCK_SIZE.min(self.pages.map.len() - at));
            return Ok(());
        }
        // A scan may skip a part that is smaller than what it read last.
        let continued = self.scans.iter().position(|scan| (scan.next..scan.next + scan.blocks).contains(&block));
        let scan = continued.and_then(|at| self.scans.remove(at));
        let before = scan.as_ref().map_or(0, |scan| scan.before + 1);
        let blocks = scan.map_or(1, |scan| scan.blocks);
        let blocks = if before >= STEADY { MOST.min(blocks * 2) } else { blocks };
        let group = block - block % GROUP;
        let group = group..group + GROUP;
        let fetched = match group.clone().filter(|near| self.present.contains(near)).count() {
            BUSY.. => blocks.max(group.end - block),
            _ => blocks,
        };
        let last = self.object.len().div_ceil(BLOCK).min(block + fetched);
        let end = (block + 1..last).find(|next| self.present.contains(next)).unwrap_or(last);
        let begun = Instant::now();
        self.fetch(block..end)?;
        let blocks = if begun.elapsed() > SLOW { blocks / 4 } else { blocks };
        if self.scans.len() >= SCANS {
            self.scans.pop_front();
        }
        self.scans.push_back(Scan { next: end, blocks: blocks.max(1), before });
        Ok(())
    }

    /// Fetches blocks, and fills each of them as soon as it is complete.
    fn fetch(&mut self, blocks: Range<u64>) -> Result<()> {
        let range = blocks.start * BLOCK..self.object.len().min(blocks.end * BLOCK);
        let (mut at, mut block, mut filled) = (blocks.start, Vec::with_capacity(BLOCK_SIZE), Ok(()));
        let object = Arc::clone(&self.object);
        object.fetch(range, &mut |mut bytes| {
            while !bytes.is_empty() {
                let (now, later) = bytes.split_at(bytes.len().min(BLOCK_SIZE - block.len()));
                block.extend_from_slice(now);
                bytes = later;
                if block.len() == BLOCK_SIZE {
                    let done = self.fill(at, &block);
                    if filled.is_ok() {
                        filled = done;
                    }
                    block.clear();
                    at += 1;
                }
            }
        })?;
        if !block.is_empty() && filled.is_ok() {
            filled = self.fill(at, &block);
        }
        filled.map_err(|error| Error::io("cannot fill the pages that are read", error))
    }

    /// Fills the pages of a block. The last page may be incomplete.
    fn fill(&mut self, block: u64, bytes: &[u8]) -> io::Result<()> {
        let at = clamp_to_usize(block * BLOCK);
        if bytes.len().is_multiple_of(self.pages.page) {
            self.pages.copy(at, bytes)?;
        } else {
            let mut padded = bytes.to_vec();
            padded.resize(bytes.len().next_multiple_of(self.pages.page), 0);
            self.pages.copy(at, &padded)?;
        }
        self.present.insert(block);
        Ok(())
    }

    /// Ends the process, if it is a command's. Otherwise the missing pages are zeros from now on, and the file has a fault.
    fn fail(&self, error: Error) {
        if ENDS.load(Ordering::Relaxed) {
            let line = format!("assetq: {}: {error}\n", escape(self.object.name()));
            crate::source::map::end_process(&[line.as_bytes()]);
        }
        note_fault(&self.object, error);
    }
}

/// Whatever ends the thread, no other thread waits for it for ever.
impl Drop for Filler {
    fn drop(&mut self) {
        if thread::panicking() {
            self.fail(Error::io("cannot fetch", io::Error::other("the thread for it failed")));
        }
        self.pages.unregister();
    }
}

/// Reads a byte of each page, if the system needs that.
pub(super) fn touch(bytes: &[u8]) {
    if NEEDS_TOUCH.load(Ordering::Relaxed) {
        let page = rustix::param::page_size();
        bytes.iter().step_by(page).chain(bytes.last()).for_each(|byte| {
            std::hint::black_box(*byte);
        });
    }
}
