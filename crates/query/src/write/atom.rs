//! Atom feeds (RFC 4287): one of a single entry, and a further entry for a feed that is there.

use crate::codec::xxh64;
use crate::dates::rfc3339;
use crate::error::{Error, ErrorKind, Result};
use crate::escape::Xml;
use roxmltree::Node;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::SystemTime;

const NAMESPACE: &str = "http://www.w3.org/2005/Atom";

/// An entry.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// The subject, which no other entry has: two entries of one subject are the same.
    pub subject: &'a str,
    /// The entry's title, in plain text.
    pub title: &'a str,
    /// When it was made.
    pub updated: SystemTime,
    /// The entry's content, in HTML.
    pub html: &'a str,
}

impl Entry<'_> {
    fn id(&self) -> String {
        id_of(self.subject)
    }

    fn xml(&self) -> String {
        format!(
            "<entry>\n  <id>{}</id>\n  <title>{}</title>\n  <updated>{}</updated>\n  <content type=\"html\">{}</content>\n</entry>\n",
            self.id(),
            Xml(self.title),
            rfc3339(self.updated),
            Lines(self.html),
        )
    }
}

/// Text as XML holds it, with its line breaks.
struct Lines<'t>(&'t str);

impl std::fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, line) in self.0.split('\n').enumerate() {
            f.write_str(if at == 0 { "" } else { "\n" })?;
            Xml(line).fmt(f)?;
        }
        Ok(())
    }
}

/// An id that all who write about `subject` come to: a UUID of the kind that is left to its maker (RFC 9562, version 8).
fn id_of(subject: &str) -> String {
    let (high, low) = (xxh64(subject.as_bytes(), 0), xxh64(subject.as_bytes(), 1));
    let (high, low) = (high & !0xF000 | 0x8000, low & !(0b11 << 62) | 0b10 << 62);
    let (a, b, c) = (high >> 32, high >> 16 & 0xFFFF, high & 0xFFFF);
    format!("urn:uuid:{a:08x}-{b:04x}-{c:04x}-{:04x}-{:012x}", low >> 48, low & 0xFFFF_FFFF_FFFF)
}

/// A feed called `title` that has one entry.
pub fn feed(title: &str, entry: &Entry<'_>) -> String {
    let mut feed = format!("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"{NAMESPACE}\">\n");
    // To write to a string cannot fail.
    let _ = write!(
        feed,
        "<id>{}</id>\n<title>{}</title>\n<updated>{}</updated>\n<author><name>assetq</name></author>\n\
         <generator>assetq</generator>\n{}</feed>\n",
        id_of(title),
        Xml(title),
        rfc3339(entry.updated),
        entry.xml()
    );
    feed
}

/// `feed` with `entry` before its others, and all else as it is; `None` where it has the entry.
///
/// # Errors
/// `Damaged` when `feed` is no Atom feed.
pub fn with_entry(feed: &str, entry: &Entry<'_>) -> Result<Option<String>> {
    let parsed = roxmltree::Document::parse(feed).map_err(|error| damaged(format!("it is no XML: {error}")))?;
    let root = parsed.root_element();
    if !root.has_tag_name((NAMESPACE, "feed")) {
        return Err(damaged("it is no Atom feed"));
    }
    let id = entry.id();
    let mut entries = children(root, "entry");
    if entries.clone().any(|entry| children(entry, "id").any(|other| other.text().map(str::trim) == Some(&*id))) {
        return Ok(None);
    }
    // Before the first of the others, else before the end of the feed.
    let at = match entries.next() {
        Some(first) => first.range().start,
        None => {
            let end = feed[root.range()].rfind("</").ok_or_else(|| damaged("it has no room for an entry"))?;
            end + root.range().start
        }
    };
    let (before, after) = feed.split_at(at);
    // The feed may have a prefix for its own names, which the entry does not know.
    let xml = entry.xml();
    let xml = xml.strip_prefix("<entry>").unwrap_or(&xml);
    let before = match children(root, "updated").next().map(|node| node.range()).filter(|range| range.end <= at) {
        Some(range) => {
            let updated = format!("<updated xmlns=\"{NAMESPACE}\">{}</updated>", rfc3339(entry.updated));
            format!("{}{updated}{}", &before[..range.start], &before[range.end..])
        }
        None => before.to_owned(),
    };
    Ok(Some(format!("{before}<entry xmlns=\"{NAMESPACE}\">{xml}{after}")))
}

fn damaged(what: impl Into<Cow<'static, str>>) -> Error {
    Error::of_part(ErrorKind::Damaged { what: what.into() }, "")
}

fn children<'n>(of: Node<'n, 'n>, name: &'static str) -> impl Iterator<Item = Node<'n, 'n>> + Clone {
    of.children().filter(move |child| child.has_tag_name((NAMESPACE, name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn a_feed_takes_an_entry_once_and_the_newest_first() {
        let entry = |subject, title| Entry { subject, title, updated: at(1_000_000_000), html: "<p>a &amp; b</p>\n" };
        let first = feed("What <changed>", &entry("1", "one"));
        assert!(
            first.contains("<title>What &lt;changed&gt;</title>") && first.contains("&lt;p&gt;a &amp;amp; b"),
            "{first}"
        );
        let second = with_entry(&first, &entry("2", "two")).unwrap().unwrap();
        assert_eq!(with_entry(&second, &entry("1", "again")).unwrap(), None);
        let parsed = roxmltree::Document::parse(&second).unwrap();
        let titles: Vec<&str> = parsed
            .descendants()
            .filter(|node| node.has_tag_name((NAMESPACE, "title")))
            .filter_map(|node| node.text())
            .collect();
        assert_eq!(titles, ["What <changed>", "two", "one"]);
    }

    #[test]
    fn what_others_wrote_stays_and_what_is_no_feed_is_refused() {
        let theirs = "<a:feed xmlns:a=\"http://www.w3.org/2005/Atom\"><!-- <entry> --><a:title>T</a:title>\
                      <a:updated>2001-01-01T00:00:00Z</a:updated></a:feed>";
        let entry = Entry { subject: "1", title: "one", updated: at(0), html: "" };
        let with = with_entry(theirs, &entry).unwrap().unwrap();
        assert!(with.contains("<!-- <entry> -->") && with.ends_with("</entry>\n</a:feed>"), "{with}");
        assert!(with.contains(">1970-01-01T00:00:00Z</updated>") && !with.contains("2001"), "{with}");
        assert_eq!(with_entry(&with, &entry).unwrap(), None);
        for other in ["", "<feed/>", "<feed><entry></feed>", "<rss xmlns='http://www.w3.org/2005/Atom'/>"] {
            assert!(with_entry(other, &entry).is_err(), "{other}");
        }
    }
}
