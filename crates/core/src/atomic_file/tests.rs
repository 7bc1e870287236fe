use super::*;
use std::cell::RefCell;
use tempfile::TempDir;

thread_local! {
    pub(super) static SYNCED: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
}

fn write(to: &Path, overwrite: Overwrite, text: &str) -> io::Result<()> {
    let mut file = AtomicFile::create(to, overwrite)?;
    file.write_all(text.as_bytes())?;
    file.commit()
}

fn output() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("out.csv");
    (folder, to)
}

fn names(folder: &TempDir) -> Vec<String> {
    let names = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn a_file_has_its_name_once_it_is_whole() {
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("deep/er/out.csv");
    let error = AtomicFile::create(&to, Overwrite::Refuse).unwrap_err();
    assert_eq!((error.kind(), output_of(&error)), (ErrorKind::NotFound, to.to_str()));
    assert_eq!(names(&folder), [""; 0]);
    let mut file = AtomicFile::create_with_folders(&to, Overwrite::Refuse).unwrap();
    file.write_all(b"whole").unwrap();
    assert!(!to.exists());
    assert_eq!(file.part_path().unwrap().parent(), to.parent());
    file.commit().unwrap();
    assert_eq!(fs::read(&to).unwrap(), b"whole");
    assert_eq!(fs::read_dir(to.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_not_kept_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let mut file = AtomicFile::create(&folder.path().join("out.csv"), Overwrite::Refuse).unwrap();
    file.write_all(&[0; 200_000]).unwrap();
    assert_eq!(names(&folder).len(), 1);
    drop(file);
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn bytes_that_are_known_late_come_to_their_place() {
    let (_folder, to) = output();
    let mut file = AtomicFile::create(&to, Overwrite::Refuse).unwrap();
    file.write_all(b"sum 0000 of ").unwrap();
    file.write_at(4, b"1234").unwrap();
    let mut back = [0; 6];
    file.read_at(4, &mut back).unwrap();
    assert_eq!(&back, b"1234 o");
    file.write_all(b"all").unwrap();
    file.commit().unwrap();
    assert_eq!(fs::read(&to).unwrap(), b"sum 1234 of all");
}

#[test]
fn the_longest_name_can_be_written() {
    let folder = TempDir::new().unwrap();
    let name = format!("{}.csv", "x".repeat(251));
    write(&folder.path().join(&name), Overwrite::Refuse, "whole").unwrap();
    assert_eq!(names(&folder), [name]);
}

#[test]
fn what_exists_stays_unless_it_may_be_replaced() {
    let (folder, to) = output();
    fs::write(&to, "old").unwrap();
    let error = write(&to, Overwrite::Refuse, "new").unwrap_err();
    assert_eq!((error.kind(), output_of(&error)), (ErrorKind::AlreadyExists, to.to_str()));
    assert_eq!(fs::read(&to).unwrap(), b"old");
    write(&to, Overwrite::Replace, "new").unwrap();
    assert_eq!(fs::read(&to).unwrap(), b"new");
    let error = write(folder.path(), Overwrite::Replace, "new").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IsADirectory);
}

/// As two commands do that begin at once.
#[test]
fn of_two_new_files_of_one_name_the_second_is_refused() {
    let (folder, to) = output();
    let begin = |text: &str| {
        let mut file = AtomicFile::create(&to, Overwrite::Refuse).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    };
    let (first, second) = (begin("first"), begin("second"));
    first.commit().unwrap();
    assert_eq!(second.commit().unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&to).unwrap(), b"first");
    assert_eq!(names(&folder), ["out.csv"]);
}

/// As two commands do that read a file and write it back.
#[test]
fn a_file_is_replaced_by_one_writer_at_a_time() {
    let (folder, to) = output();
    fs::write(&to, "old").unwrap();
    let read = Overwrite::IfUnchanged(FileState::read(&to).unwrap());
    let mut first = AtomicFile::create(&to, read).unwrap();
    for second in [Overwrite::Replace, read] {
        let error = AtomicFile::create(&to, second).unwrap_err();
        assert_eq!((error.kind(), output_of(&error)), (ErrorKind::ResourceBusy, to.to_str()));
        assert!(error.to_string().contains("another program is writing it"), "{error}");
    }
    first.write_all(b"first").unwrap();
    first.commit().unwrap();
    let error = AtomicFile::create(&to, read).unwrap_err();
    assert!(error.to_string().contains("it changed after it was opened"), "{error}");
    assert_eq!(fs::read(&to).unwrap(), b"first");
    assert_eq!(names(&folder), ["out.csv"]);
}

/// On Windows the lock keeps other programs from it.
#[cfg(unix)]
#[test]
fn a_file_that_another_program_changes_meanwhile_is_not_replaced() {
    let (folder, to) = output();
    // Written, replaced, removed, and made where there was none.
    let by_others: [(&str, &dyn Fn()); 4] = [
        ("old", &|| fs::write(&to, "theirs").unwrap()),
        ("old", &|| {
            fs::write(folder.path().join("other"), "old").unwrap();
            fs::rename(folder.path().join("other"), &to).unwrap();
        }),
        ("old", &|| fs::remove_file(&to).unwrap()),
        ("", &|| fs::write(&to, "theirs").unwrap()),
    ];
    for (before, by_other) in by_others {
        for is_read in [false, true] {
            let _ = fs::remove_file(&to);
            if !before.is_empty() {
                fs::write(&to, before).unwrap();
            }
            let read = Overwrite::IfUnchanged(FileState::read(&to).unwrap());
            let file = AtomicFile::create(&to, if is_read { read } else { Overwrite::Replace }).unwrap();
            by_other();
            let theirs = fs::read(&to).ok();
            let error = file.commit().unwrap_err();
            assert!(error.to_string().contains("it changed after it was opened"), "{error}");
            assert_eq!(fs::read(&to).ok(), theirs);
        }
    }
}

#[test]
fn a_file_and_its_new_folders_are_synced() {
    let synced = |to: &Path, overwrite, commit: fn(AtomicFile) -> io::Result<()>| {
        let file = AtomicFile::create_with_folders(to, overwrite).unwrap();
        let part = file.part_path().unwrap().to_owned();
        SYNCED.take();
        commit(file).unwrap();
        SYNCED.take().into_iter().map(|path| if path == part { "PART".into() } else { path }).collect::<Vec<_>>()
    };
    let folder = TempDir::new().unwrap();
    let at = |path: &str| folder.path().join(path);
    let part = PathBuf::from("PART");
    let folders = if cfg!(unix) { vec![at("a/b"), at("a"), folder.path().to_owned()] } else { Vec::new() };
    assert_eq!(synced(&at("a/b/out"), Overwrite::Refuse, AtomicFile::commit), [vec![part.clone()], folders].concat());
    let folders = if cfg!(unix) { vec![at("a/b")] } else { Vec::new() };
    assert_eq!(synced(&at("a/b/out"), Overwrite::Replace, AtomicFile::commit), [vec![part.clone()], folders].concat());
    // One of many is synced with the others, unless it replaces bytes.
    #[cfg(target_os = "linux")]
    {
        fs::write(at("old"), "old").unwrap();
        assert!(synced(&at("many"), Overwrite::Refuse, AtomicFile::commit_unsynced).is_empty());
        assert_eq!(synced(&at("old"), Overwrite::Replace, AtomicFile::commit_unsynced), [part]);
        sync_files(folder.path()).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_replaced_and_never_followed() {
    use std::os::unix::fs::symlink;
    let folder = TempDir::new().unwrap();
    let [target, link, dangling] = ["target", "link", "dangling"].map(|name| folder.path().join(name));
    fs::write(&target, "precious").unwrap();
    symlink(&target, &link).unwrap();
    symlink(folder.path().join("nowhere"), &dangling).unwrap();
    for link in [&link, &dangling] {
        assert_eq!(write(link, Overwrite::Refuse, "new").unwrap_err().kind(), ErrorKind::AlreadyExists);
        write(link, Overwrite::Replace, "new").unwrap();
        assert!(fs::symlink_metadata(link).unwrap().is_file());
    }
    assert_eq!(fs::read(&target).unwrap(), b"precious");
    assert!(!folder.path().join("nowhere").exists());
}

#[cfg(unix)]
#[test]
fn permissions_are_those_of_any_new_file_or_of_the_old_one() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    let [plain, to] = ["plain", "out"].map(|name| folder.path().join(name));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    fs::write(&plain, "").unwrap();
    write(&to, Overwrite::Refuse, "new").unwrap();
    assert_eq!(mode(&to), mode(&plain));
    fs::set_permissions(&to, fs::Permissions::from_mode(0o640)).unwrap();
    write(&to, Overwrite::Replace, "newer").unwrap();
    assert_eq!(mode(&to) & 0o777, 0o640);
}

/// As a killed process leaves it: not locked.
#[cfg(target_os = "linux")]
#[test]
fn an_unfinished_file_of_a_killed_process_is_removed_by_the_next_write() {
    let (folder, to) = output();
    let part = |file: &AtomicFile| file.part_path().unwrap().to_owned();
    let begin = || AtomicFile::create(&to, Overwrite::Refuse).unwrap();
    let left = part(&begin());
    fs::write(&left, "left by a killed process").unwrap();
    let (first, second) = (begin(), begin());
    // The stale one is gone, and of two that are written each has its own.
    assert_eq!((part(&first), fs::metadata(&left).unwrap().len()), (left.clone(), 0));
    assert_ne!(part(&second), left);
    let other = folder.path().join(".assetq-abc.part");
    fs::write(&other, "of another name").unwrap();
    fs::write(folder.path().join(".assetq-abc.old"), "of a snapshot").unwrap();
    std::os::unix::fs::symlink(&other, folder.path().join(".assetq-link.part")).unwrap();
    fs::create_dir(folder.path().join(".assetq-folder.part")).unwrap();
    assert_eq!(remove_stale_parts(folder.path()).unwrap(), 1);
    assert!(!other.exists() && part(&first).exists() && part(&second).exists());
    first.commit().unwrap();
    drop(second);
    let mut left = names(&folder);
    left.sort_unstable();
    assert_eq!(left, [".assetq-abc.old", ".assetq-folder.part", ".assetq-link.part", "out.csv"]);
}

#[cfg(target_os = "linux")]
#[test]
fn an_unfinished_folder_of_a_killed_process_is_removed_by_the_next_one() {
    let parent = TempDir::new().unwrap();
    let (other, stale) = (PartFolder::create(parent.path()).unwrap(), parent.path().join(".assetq-abc.part"));
    fs::create_dir(&stale).unwrap();
    fs::write(stale.join("x"), "left by a killed process").unwrap();
    fs::create_dir(parent.path().join("abc.part")).unwrap();
    let next = PartFolder::create(parent.path()).unwrap();
    assert!(!stale.exists() && other.path().exists() && next.path().exists());
    drop((other, next));
    assert_eq!(names(&parent), ["abc.part"]);
}

#[cfg(unix)]
#[test]
fn a_private_file_is_private_while_it_is_written_and_keeps_its_owner() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("out");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    fs::write(&to, "old").unwrap();
    for kept in [0o600, 0o4755, 0o2644] {
        set(&to, kept);
        let file = AtomicFile::create(&to, Overwrite::Replace).unwrap();
        assert_eq!(mode(file.part_path().unwrap()), 0o600);
        file.commit().unwrap();
        assert_eq!(mode(&to), kept);
    }
    // Beside a private file a new one is as private, whatever it replaces.
    set(&to, 0o600);
    let undo = folder.path().join("undo");
    for _ in 0..2 {
        let mut file = AtomicFile::create(&undo, Overwrite::Replace).unwrap();
        file.restrict_as(&to).unwrap();
        assert_eq!(mode(file.part_path().unwrap()), 0o600);
        file.commit().unwrap();
        assert_eq!(mode(&undo), 0o600);
        set(&undo, 0o644);
    }
    // Only root can give files away.
    if fs::metadata(&to).unwrap().uid() == 0 && chown(&to, Some(1000), Some(1001)).is_ok() {
        set(&to, 0o4755);
        write(&to, Overwrite::Replace, "new").unwrap();
        let meta = fs::metadata(&to).unwrap();
        assert_eq!((meta.uid(), meta.gid(), mode(&to)), (1000, 1001, 0o4755));
    }
}

#[cfg(unix)]
#[test]
fn of_a_file_that_cannot_keep_its_owner_no_right_to_act_as_the_owner_is_kept() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let folder = TempDir::new().unwrap();
    let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
    fs::write(&old, "").unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o6755)).unwrap();
    let file = File::create(&new).unwrap();
    let mode = || fs::metadata(&new).unwrap().mode() & 0o7777;
    take_access(&file, &fs::metadata(&old).unwrap(), 0o7777).unwrap();
    assert_eq!(mode(), 0o6755);
    // A file of the system's, which only root could imitate.
    let of_root = fs::metadata("/").unwrap();
    if fs::metadata(&old).unwrap().uid() != of_root.uid() {
        take_access(&file, &of_root, 0o7777).unwrap();
        assert_eq!(mode() & 0o6000, 0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn extended_attributes_are_kept() {
    use rustix::fs::{XattrFlags, lgetxattr, lsetxattr};
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("out");
    fs::write(&to, "old").unwrap();
    if lsetxattr(&to, "user.origin", b"mine", XattrFlags::empty()).is_err() {
        eprintln!("skipped: this file system has no attributes");
        return;
    }
    // A list that lets the user 1000 read, and is more than the mode can say.
    let acl: Vec<u8> = [(1u16, 6u16, u32::MAX), (2, 4, 1000), (4, 0, u32::MAX), (16, 4, u32::MAX), (32, 0, u32::MAX)]
        .iter()
        .fold(2u32.to_le_bytes().to_vec(), |mut list, (tag, may, id)| {
            list.extend(tag.to_le_bytes());
            list.extend(may.to_le_bytes());
            list.extend(id.to_le_bytes());
            list
        });
    let has_list = lsetxattr(&to, "system.posix_acl_access", &acl, XattrFlags::empty()).is_ok();
    let mode = fs::metadata(&to).unwrap().permissions();
    write(&to, Overwrite::Replace, "new").unwrap();
    let mut value = [0; 100];
    let len = lgetxattr(&to, "user.origin", &mut value).unwrap();
    assert_eq!(&value[..len], b"mine");
    if has_list {
        let len = lgetxattr(&to, "system.posix_acl_access", &mut value).unwrap();
        assert_eq!(&value[..len], acl);
    }
    assert_eq!(fs::metadata(&to).unwrap().permissions(), mode);
}

#[test]
fn outputs_are_one_file_by_identity() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    assert!(are_same_output(&at("new"), &at("sub/../new")) && !are_same_output(&at("new"), &at("sub/new")));
    fs::write(at("old"), "").unwrap();
    assert!(are_same_output(&at("old"), &at("./old")) && !are_same_output(&at("old"), &at("new")));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(at("sub"), at("link")).unwrap();
        assert!(are_same_output(&at("link/new"), &at("sub/new")));
        assert!(!are_same_output(Path::new("/dev/null"), Path::new("/dev/null")));
    }
}

#[cfg(unix)]
#[test]
fn a_device_is_written_to_and_stays_one() {
    use std::os::unix::fs::FileTypeExt as _;
    for overwrite in [Overwrite::Refuse, Overwrite::Replace] {
        write(Path::new("/dev/null"), overwrite, "new").unwrap();
    }
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn a_file_is_known_by_all_of_its_names() {
    let folder = TempDir::new().unwrap();
    let [file, link, other] = ["file", "link", "other"].map(|name| folder.path().join(name));
    fs::write(&file, "").unwrap();
    fs::write(&other, "").unwrap();
    assert_eq!(FileId::of(&file), FileId::of(&folder.path().join(".").join("file")));
    assert_ne!(FileId::of(&file), FileId::of(&other));
    assert_eq!(FileId::of(&link), None);
    #[cfg(unix)]
    {
        fs::hard_link(&file, &link).unwrap();
        assert_eq!(FileId::of(&file), FileId::of(&link));
    }
}
