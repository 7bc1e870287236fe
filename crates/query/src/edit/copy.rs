//! Writes new files block by block, and reads each block back while it is in the processor's caches.

use super::Pieces;
use crate::atomic_file::AtomicFile;
use crate::error::{Error, Result};
use crate::source::Source;
use crate::threads;
use crate::writable::differs;
use crate::write::cannot_write;
use std::io::{self, Write as _};
use std::sync::mpsc;
use std::thread;

/// Bytes that are written, read back and compared at once. The originals, the written bytes and the bytes that are read back fit into the
/// second cache of one core together: with eight times as many, an edit of 170 MB took a fifth more processor time. Blocks begin at
/// multiples of this size in the new file, because systems keep pages of unaligned writes in smaller groups: an edit that shifted all later
/// writes by four bytes took half as long again.
const BLOCK: usize = 1 << 16;

/// Bytes after which a sync is started while more is written: a disk that begins only after the last byte would keep the
/// command waiting as long again.
const SYNC: usize = 32 << 20;

/// Writes `pieces` of `old` and reads them back: kept bytes are compared with the old bytes, all others with the
/// pieces. A large file is synced meanwhile.
pub(super) fn copy(pieces: &Pieces, old: &Source, to: &mut AtomicFile) -> Result<()> {
    let handle = if pieces.len() < SYNC || threads::count() < 2 { None } else { to.second_handle().ok().flatten() };
    let Some(handle) = handle else { return copy_blocks(pieces, old, to, &mut || ()) };
    let (wake, written) = mpsc::sync_channel(1);
    thread::scope(|scope| {
        // The system reports a failed sync once for all handles of a file: the error must not be lost.
        let syncing =
            thread::Builder::new().spawn_scoped(scope, move || written.iter().try_for_each(|()| handle.sync_data()));
        // Without room in the channel, the next sync has not begun and will include these bytes.
        let copied = copy_blocks(pieces, old, to, &mut || {
            let _ = wake.try_send(());
        });
        drop(wake);
        let synced = syncing.map_or(Ok(()), |syncing| syncing.join().unwrap_or(Ok(())));
        copied.and_then(|()| synced.map_err(cannot_write))
    })
}

/// Writes and reads back the blocks, and calls `sync` after each [`SYNC`] bytes and at the end.
fn copy_blocks(pieces: &Pieces, old: &Source, to: &mut AtomicFile, sync: &mut dyn FnMut()) -> Result<()> {
    let mut blocks =
        Blocks { to, old, sync, done: 0, meant: Vec::new(), len: 0, gathered: Vec::new(), written: Vec::new() };
    for mut slice in pieces.slices(old.bytes(), 0) {
        while let Some((part, rest)) =
            slice.split_at_checked(blocks.room().min(slice.len())).filter(|(p, _)| !p.is_empty())
        {
            blocks.push(part)?;
            slice = rest;
        }
    }
    blocks.write()?;
    (blocks.sync)();
    Ok(())
}

/// A file that is being written, and its current block.
struct Blocks<'m, 'f> {
    to: &'f mut AtomicFile,
    old: &'m Source,
    sync: &'f mut dyn FnMut(),
    /// Bytes of the earlier blocks.
    done: usize,
    /// The parts of the block, and their total size.
    meant: Vec<&'m [u8]>,
    len: usize,
    /// Buffers for several parts and for the bytes that were read back, shared by all blocks: fresh memory would cost
    /// more than the reads.
    gathered: Vec<u8>,
    written: Vec<u8>,
}

impl<'m> Blocks<'m, '_> {
    fn room(&self) -> usize {
        BLOCK - self.len
    }

    fn push(&mut self, part: &'m [u8]) -> Result<()> {
        self.meant.push(part);
        self.len += part.len();
        if self.room() > 0 { Ok(()) } else { self.write() }
    }

    /// Writes the block, and compares it with the bytes in the file.
    fn write(&mut self) -> Result<()> {
        let block = match &*self.meant {
            [all] => all,
            parts => {
                self.gathered.clear();
                parts.iter().for_each(|part| self.gathered.extend_from_slice(part));
                &*self.gathered
            }
        };
        let written = self.to.write_all(block).and_then(|()| self.to.flush());
        written.map_err(|error| if self.old.is_cut() { cut() } else { cannot_write(error) })?;
        self.written.resize(self.written.len().max(self.len), 0);
        read_back(self.to, self.done, &self.meant, &mut self.written[..self.len])?;
        let before = self.done / SYNC;
        self.done += self.len;
        if self.done / SYNC > before {
            (self.sync)();
        }
        self.meant.clear();
        self.len = 0;
        Ok(())
    }
}

/// The error of a file that ends before the end of a copied range.
#[cold]
fn cut() -> Error {
    let what = "a range past its end cannot be copied";
    let error = io::Error::new(io::ErrorKind::UnexpectedEof, what);
    Error::io("the file became shorter while it was mapped", error)
}

/// Reads the bytes of `file` from `at` on into the buffer `written`, and compares them with the expected bytes.
pub(super) fn read_back(file: &mut AtomicFile, at: usize, meant: &[&[u8]], written: &mut [u8]) -> Result<()> {
    file.read_at(at as u64, written).map_err(|e| Error::io("cannot read back", e))?;
    let mut rest = &*written;
    if meant.iter().all(|part| rest.split_off(..part.len()) == Some(*part)) && rest.is_empty() {
        return Ok(());
    }
    Err(differs(format!("some of the {} bytes from {at:#x} on differ", written.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomic_file::Overwrite;
    use std::fs;
    use tempfile::TempDir;

    /// Three blocks and a part of one, and a file with these bytes.
    fn source(folder: &TempDir) -> (Vec<u8>, Source) {
        let bytes: Vec<u8> = (0..3 * BLOCK as u32 + 77).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let old = folder.path().join("old.bin");
        fs::write(&old, &bytes).unwrap();
        (bytes, Source::open(&old).unwrap())
    }

    /// A new file syncs after each [`SYNC`] bytes and at its end, and has the bytes of the old one.
    #[test]
    fn a_large_file_is_synced_while_it_is_written() {
        let folder = TempDir::new().unwrap();
        let bytes = vec![7; 2 * SYNC + 5];
        let old = Source::from_vec("old.bin", bytes.clone());
        let pieces = Pieces::replaced(bytes.len(), [(SYNC..SYNC + 1, vec![8])]).unwrap();
        let mut file = new_file(&folder);
        copy(&pieces, &old, &mut file).unwrap();
        assert!(fs::read(file.part_path().unwrap()).unwrap() == pieces.bytes(&bytes));
        let mut syncs = 0;
        copy_blocks(&pieces, &old, &mut new_file(&folder), &mut || syncs += 1).unwrap();
        assert_eq!(syncs, 3);
    }

    fn new_file(folder: &TempDir) -> AtomicFile {
        AtomicFile::create(&folder.path().join("new.bin"), Overwrite::Replace).unwrap()
    }

    #[test]
    fn blocks_have_what_the_pieces_have_wherever_those_end() {
        let folder = TempDir::new().unwrap();
        let (bytes, mapped) = source(&folder);
        let len = bytes.len();
        let read = Source::read(folder.path().join("old.bin")).unwrap();
        for stretches in [
            vec![],
            vec![(5..9, vec![1; 4])],
            vec![(0..0, vec![2; 3]), (BLOCK..BLOCK + 1, vec![3; BLOCK]), (len..len, vec![4])],
            vec![(BLOCK - 1..BLOCK + 1, vec![5; 2]), (2 * BLOCK..len, vec![])],
            vec![(0..len, vec![6; 2 * BLOCK])],
            vec![(0..len, vec![])],
        ] {
            let pieces = Pieces::replaced(len, stretches).unwrap();
            for source in [&mapped, &read] {
                let mut file = new_file(&folder);
                copy(&pieces, source, &mut file).unwrap();
                file.commit().unwrap();
                assert!(fs::read(folder.path().join("new.bin")).unwrap() == pieces.bytes(&bytes), "{pieces:?}");
            }
        }
    }

    #[test]
    fn one_byte_that_was_written_otherwise_is_found() {
        let folder = TempDir::new().unwrap();
        let mut file = new_file(&folder);
        file.write_all(b"what was wrotten").unwrap();
        let mut room = [0; 12];
        read_back(&mut file, 0, &[b"what was", b" wro"], &mut room).unwrap();
        let error = read_back(&mut file, 4, &[b" was written"], &mut room).unwrap_err();
        assert!(error.to_string().contains("some of the 12 bytes from 0x4 on differ"), "{error}");
        assert!(read_back(&mut file, 5, &[b"was wrotten."], &mut room).is_err(), "the file ends before");
    }

    #[cfg(unix)]
    #[test]
    fn a_source_that_becomes_shorter_is_an_error_and_no_crash() {
        let folder = TempDir::new().unwrap();
        let (bytes, source) = source(&folder);
        let old = fs::OpenOptions::new().write(true).open(folder.path().join("old.bin")).unwrap();
        old.set_len(BLOCK as u64).unwrap();
        let error = copy(&Pieces::whole(bytes.len()), &source, &mut new_file(&folder)).unwrap_err();
        assert!(error.to_string().contains("the file became shorter while it was mapped"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left");
    }
}
