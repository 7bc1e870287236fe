//! The bytes of files in archives: decoded to the size that the archive declares, and checked.

use super::choose::StoredBudget;
use super::{Archive, Codec, File, oodle};
use crate::codec::{self, Oodle};
use crate::error::{Error, ErrorKind, Result};
use crate::report::{Check, Progress, Report, counted};
use crate::source::Source;
use crate::threads::prelude::*;

/// The bytes of `file` under the name `name`, decoded from `stored`, or `stored` itself if uncompressed. Decoded bytes
/// are checked against the file's CRC-32; see [`check_crc32`] for uncompressed bytes. `library` decodes [`Codec::Oodle`].
///
/// # Errors
/// `Unsupported` for a codec that is not known and for Oodle without its library, `Codec` for a damaged stream or one of another size than declared,
/// `Checksum`, `OutOfBounds`.
pub fn decode(stored: Source, file: &File<'_>, name: &str, library: Option<&Oodle>) -> Result<Source> {
    decode_in(stored, file, name, library).map_err(|error| in_volume(error, file))
}

/// An error in the stored bytes of `file`: its offset is one of the volume, and no position in the file.
pub(super) fn in_volume(error: Error, file: &File<'_>) -> Error {
    match &file.volume {
        Some(volume) => error.in_file(volume),
        None => error,
    }
}

fn decode_in(stored: Source, file: &File<'_>, name: &str, library: Option<&Oodle>) -> Result<Source> {
    let at = stored.view("data");
    let bytes = stored.bytes();
    let size = usize::try_from(file.size).map_err(|_| at.bad_value("size", file.size))?;
    let decoded = match file.codec {
        Codec::None if bytes.len() == size => return Ok(stored.named(name)),
        Codec::None => {
            let what = "stored size, which is not the size".into();
            return Err(at.error(ErrorKind::BadValue { what, value: bytes.len() as i128 }));
        }
        Codec::Deflate => codec::deflate(bytes, size),
        Codec::Zlib => codec::zlib(bytes, size),
        Codec::Oodle => Ok(oodle::decode(at, size, size, library)?),
        Codec::Unknown(_) => {
            let what = format!("the codec {}", file.codec.name()).into();
            return Err(at.error(ErrorKind::Unsupported { what }));
        }
    };
    let decoded = decoded.map_err(|kind| at.error(kind))?;
    let decoded = Source::from_vec(name, decoded);
    check_crc32(&decoded, file).map_err(|error| match error.kind() {
        // Only the stored bytes have a place that can be looked at.
        ErrorKind::Checksum { algorithm, stored, computed } => {
            at.error(ErrorKind::Checksum { algorithm, stored: *stored, computed: *computed })
        }
        _ => error,
    })?;
    Ok(decoded)
}

/// The first `len` decoded bytes of a file, or all of them.
///
/// # Errors
/// As [`decode`] and [`Archive::stored`], except that damage after these bytes is not found.
pub fn head(archive: &dyn Archive, file: &File<'_>, len: usize) -> Result<Vec<u8>> {
    let stored = archive.stored(file)?;
    let size = usize::try_from(file.size).map_err(|_| stored.view("data").bad_value("size", file.size))?;
    Ok(match file.codec {
        Codec::None => stored.bytes().iter().take(len).copied().collect(),
        Codec::Deflate | Codec::Zlib => codec::inflate_head(stored.bytes(), file.codec == Codec::Zlib, len.min(size)),
        Codec::Oodle => {
            let library = archive.oodle();
            let mut decoded = oodle::decode(stored.view("data"), size, len.min(size), library.as_deref())?;
            decoded.truncate(len);
            decoded
        }
        Codec::Unknown(_) => decode(stored, file, &file.path, None)?.bytes().to_vec(),
    })
}

/// Compares decoded bytes with the CRC-32 of `file`, if it has one.
///
/// # Errors
/// `Checksum`.
pub fn check_crc32(decoded: &Source, file: &File<'_>) -> Result<()> {
    let Some(stored) = file.crc32 else { return Ok(()) };
    match codec::crc32(decoded.bytes()) {
        computed if computed == stored => Ok(()),
        computed => {
            let (stored, computed) = (stored.into(), computed.into());
            Err(decoded.view("data").error(ErrorKind::Checksum { algorithm: "CRC-32", stored, computed }))
        }
    }
}

/// Decodes and checks a file.
fn check_file(archive: &dyn Archive, file: &File<'_>) -> Result<()> {
    let decoded = decode(archive.stored(file)?, file, &file.path, archive.oodle().as_deref())?;
    if file.codec == Codec::None {
        check_crc32(&decoded, file)?;
    }
    archive.check(file)
}

/// Decodes and checks every file, in parallel: the additional checks of `verify --deep`. Files in missing volumes or
/// with a codec that is not supported are counted and not checked.
pub fn verify_deep(archive: &dyn Archive, report: &mut Report, progress: &Progress) {
    let mut check = Check::new("contents");
    let all = archive.len().and_then(|len| Ok((len, StoredBudget::new(archive)?)));
    let Some((len, mut budget)) = check.note(all) else {
        report.checks.push(check);
        return;
    };
    let mut files: Vec<File<'_>> = (0..len).filter_map(|n| archive.file(n).ok()).collect();
    files.retain(|file| {
        let spent = budget.spend(file).map_err(|error| error.context(&file.path));
        check.note(spent).is_some()
    });
    progress.announce(files.len() as u64);
    let checked: Vec<Result<()>> = files
        .par_iter()
        .map(|file| {
            progress.advance(1);
            check_file(archive, file)
        })
        .collect();
    let (mut decoded, mut bytes, mut missing, mut refused) = (0u64, 0, 0, 0);
    for (file, checked) in files.iter().zip(checked) {
        match checked {
            Ok(()) => (decoded, bytes) = (decoded + 1, bytes + file.size),
            Err(error) if matches!(error.kind(), ErrorKind::NotInstalled { .. }) => missing += 1,
            Err(error) if matches!(error.kind(), ErrorKind::Unsupported { .. }) => refused += 1,
            Err(error) => check.fail(error.context(&file.path)),
        }
    }
    let mut detail = format!("{}, {}", counted(decoded, "file"), counted(bytes, "byte"));
    for (count, why) in [(missing, "not installed"), (refused, "of a codec that is not supported, not checked")] {
        if count > 0 {
            detail = format!("{detail}; {count} {why}");
        }
    }
    report.checks.push(check.with_detail(detail));
}

/// Checks that the entry of every file is readable and that the file is inside of its volume; reads no byte of it.
/// Files in missing volumes are counted.
pub fn verify_places(archive: &dyn Archive, report: &mut Report, progress: &Progress) {
    let mut check = Check::new("files");
    let Some(len) = check.note(archive.len()) else {
        report.checks.push(check);
        return;
    };
    progress.announce(len as u64);
    let mut missing = 0u64;
    for n in 0..len {
        match archive.file(n) {
            Ok(file) if file.volume.is_none() => {}
            Ok(file) => match archive.stored(&file) {
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::NotInstalled { .. }) => missing += 1,
                Err(error) => check.fail(error.context(&file.path)),
            },
            Err(error) => check.fail(error),
        }
        progress.advance(1);
    }
    archive.damage().into_iter().for_each(|error| check.fail(error));
    let files = counted(len, "file");
    let detail = if missing > 0 { format!("{files}, {missing} not installed") } else { files };
    report.checks.push(check.with_detail(detail));
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::{DeflateEncoder, ZlibEncoder};
    use std::io::Write as _;

    fn deflated(data: &[u8]) -> Vec<u8> {
        let mut out = DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(data).unwrap();
        out.finish().unwrap()
    }

    fn file(codec: Codec, data: &[u8]) -> File<'static> {
        File { codec, crc32: Some(codec::crc32(data)), ..File::new("a/b.txt", data.len() as u64, 0) }
    }

    fn open(stored: &[u8], file: &File<'_>) -> Result<Source> {
        decode(Source::from_vec("volume", stored.to_vec()), file, "GAME:a/b.txt", None)
    }

    #[test]
    fn every_codec_gives_the_bytes_back() {
        let data: Vec<u8> = (0..200_000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        let mut zlib = ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        zlib.write_all(&data).unwrap();
        for (codec, stored) in
            [(Codec::None, data.clone()), (Codec::Deflate, deflated(&data)), (Codec::Zlib, zlib.finish().unwrap())]
        {
            let file = file(codec, &data);
            let opened = open(&stored, &file).unwrap();
            assert_eq!((opened.bytes(), opened.name()), (&data[..], "GAME:a/b.txt"), "{codec:?}");
            for end in [0, 1, 7, 9, stored.len() - 1] {
                assert!(open(&stored[..end], &file).is_err(), "{codec:?} {end}");
            }
            assert!(open(&[&stored[..], &[0]].concat(), &file).is_err(), "{codec:?}");
            for size in [0, file.size - 1, file.size + 1, u64::MAX] {
                assert!(open(&stored, &File { size, ..file.clone() }).is_err(), "{codec:?} {size}");
            }
        }
    }

    #[test]
    fn a_wrong_crc_is_said_and_a_foreign_codec_refused() {
        let wrong = File { crc32: Some(1), ..file(Codec::Deflate, b"abc") };
        let error = open(&deflated(b"abc"), &wrong).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Checksum { stored: 1, .. }), "{error}");
        let error = open(b"abc", &file(Codec::Unknown(8), b"abc")).unwrap_err();
        assert_eq!(error.to_string(), "data: the codec unknown-0x8 is not supported (at offset 0x0)");
    }
}
