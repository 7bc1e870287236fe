//! Pointers of Git LFS: the small texts that stand for files in a repository until `git lfs pull` fetches the files.

use crate::error::{Error, ErrorKind};

/// The first bytes of a pointer.
const MAGIC: &[u8] = b"version https://git-lfs.github.com/spec/v";
/// The most bytes that a pointer has, by its specification.
const MOST: usize = 1024;

/// The error that `data` is a pointer, if it is one.
pub(crate) fn pointer(data: &[u8]) -> Option<Error> {
    if !data.starts_with(MAGIC) || data.len() > MOST {
        return None;
    }
    let text = std::str::from_utf8(data).ok()?;
    let mut fields = text.lines().filter_map(|line| line.split_once(' '));
    let oid = fields.find(|(key, _)| *key == "oid")?.1.to_owned();
    // The keys after the version are sorted.
    let size = fields.find(|(key, _)| *key == "size")?.1.parse().ok()?;
    Some(Error::of_part(ErrorKind::GitLfsPointer { size, oid }, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_has_a_version_an_id_and_a_size() {
        let sound = "version https://git-lfs.github.com/spec/v1\noid sha256:00ff\nsize 12\n";
        assert_eq!(pointer(sound.as_bytes()).unwrap().to_string(), "a Git LFS pointer: 12 bytes, sha256:00ff");
        for other in [&sound[..42], &sound.replace("size 12", "size many"), &sound.replace("version", "Version")] {
            assert!(pointer(other.as_bytes()).is_none(), "{other}");
        }
        assert!(pointer(&[sound.as_bytes(), &[b' '; MOST]].concat()).is_none());
    }
}
