//! The names of folders and files of a data set, as Hive, Spark and DuckDB read them.

use assetq_core::paths::is_device;
use std::fmt;
use std::fmt::Write as _;
use std::str::FromStr;

/// A column that all rows of a file share, kept in the name of its folder: `build=15.2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The partition's name: letters, digits and `_`, not beginning with a digit.
    pub key: String,
    /// The partition's value. It is not empty: an empty value means null there.
    pub value: String,
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("a name, '=' and a value are needed, as in build=15.2")?;
        let plain = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if key.is_empty() || !plain || key.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(format!("{key:?} is no name for a column: letters, digits and _ are"));
        }
        if value.is_empty() {
            return Err(format!("{key} has no value"));
        }
        Ok(Self { key: key.to_owned(), value: value.to_owned() })
    }
}

/// The name of its folder.
impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, escaped(&self.value))
    }
}

/// `text` with the characters that Hive keeps out of names of folders as `%` and two digits.
fn escaped(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_control() || "\"#%'*/:<=>?\\{}[]^|".contains(c) {
            // To write to a string cannot fail.
            let _ = write!(name, "%{:02X}", u32::from(c));
        } else {
            name.push(c);
        }
    }
    name
}

/// `text`, which a file may have chosen, as the name of one file or folder: it leads nowhere else, is not hidden, and is no
/// device of Windows, which drops dots and blanks at the end.
pub fn file_name(text: &str) -> String {
    let mut name = escaped(text);
    if let Some(last @ ('.' | ' ')) = name.chars().next_back() {
        name.pop();
        let _ = write!(name, "%{:02X}", u32::from(last));
    }
    match name.chars().next() {
        Some(first) if first == '.' || is_device(&name) => {
            let rest = name.split_off(first.len_utf8());
            format!("%{:02X}{rest}", u32::from(first))
        }
        Some(_) => name,
        None => "%00".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_names_its_folder() {
        let folder = |text: &str| text.parse::<Partition>().map(|p| p.to_string());
        assert_eq!(folder("build=15.2").unwrap(), "build=15.2");
        assert_eq!(folder("day=2026-01-02 10:30").unwrap(), "day=2026-01-02 10%3A30");
        assert_eq!(folder("path=a/../b=c%").unwrap(), "path=a%2F..%2Fb%3Dc%25");
        assert_eq!(folder("name=Größe").unwrap(), "name=Größe");
        for wrong in ["build", "=1", "build=", "a b=1", "1st=1", "a/b=1", "ä=1"] {
            assert!(folder(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_name_that_a_file_chose_stays_one_name() {
        assert_eq!(file_name("render_sets"), "render_sets");
        assert_eq!(file_name("../../etc/passwd"), "%2E.%2F..%2Fetc%2Fpasswd");
        assert_eq!(file_name("a\\b:c\0"), "a%5Cb%3Ac%00");
        assert_eq!(file_name(".."), "%2E%2E");
        assert_eq!(["NUL", "com1.txt", "end.", "end "].map(file_name), ["%4EUL", "%63om1.txt", "end%2E", "end%20"]);
        assert_eq!(file_name(""), "%00");
    }
}
