//! Atom feeds (RFC 4287): one of a single entry, and a further entry for a feed that is there.

use crate::codec::xxh64;
use crate::error::{Error, ErrorKind, Result};
use crate::escape::Xml;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const NAMESPACE: &str = "http://www.w3.org/2005/Atom";

/// An entry.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// The subject, which no other entry has: two entries of one subject are the same.
    pub subject: &'a str,
    /// Its title, in plain text.
    pub title: &'a str,
    /// When it was made.
    pub updated: SystemTime,
    /// Its content, in HTML.
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
            date(self.updated),
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
        date(entry.updated),
        entry.xml()
    );
    feed
}

/// `feed` with `entry` before its others, and all else as it is; `None` where it has the entry.
///
/// # Errors
/// `Damaged` when `feed` is no Atom feed.
pub fn with_entry(feed: &str, entry: &Entry<'_>) -> Result<Option<String>> {
    let damaged = |what: String| Error::of_part(ErrorKind::Damaged { what: what.into() }, "");
    let parsed = roxmltree::Document::parse(feed).map_err(|error| damaged(format!("it is no XML: {error}")))?;
    let root = parsed.root_element();
    if !root.has_tag_name((NAMESPACE, "feed")) {
        return Err(damaged("it is no Atom feed".to_owned()));
    }
    let child = |of: roxmltree::Node<'_, '_>, name: &str| {
        of.children()
            .find(|child| child.has_tag_name((NAMESPACE, name)))
            .map(|node| (node.range(), node.text().unwrap_or_default().trim().to_owned()))
    };
    let id = entry.id();
    let mut entries = root.children().filter(|child| child.has_tag_name((NAMESPACE, "entry")));
    if entries.clone().any(|entry| child(entry, "id").is_some_and(|(_, other)| other == id)) {
        return Ok(None);
    }
    // Before the first of the others, else before the end of the feed.
    let end =
        || feed.get(root.range()).and_then(|root| root.rfind("</")).map(|at| at.saturating_add(root.range().start));
    let at = entries.next().map(|first| first.range().start).or_else(end);
    let at = at.ok_or_else(|| damaged("it has no room for an entry".to_owned()))?;
    let (before, after) = feed.split_at_checked(at).unwrap_or((feed, ""));
    // The feed may have a prefix for its own names, which the entry does not know.
    let xml = entry.xml();
    let xml = xml.strip_prefix("<entry>").unwrap_or(&xml);
    let before = match child(root, "updated").filter(|(range, _)| range.end <= at) {
        Some((range, _)) => {
            let updated = format!("<updated xmlns=\"{NAMESPACE}\">{}</updated>", date(entry.updated));
            format!(
                "{}{updated}{}",
                before.get(..range.start).unwrap_or_default(),
                before.get(range.end..).unwrap_or_default()
            )
        }
        None => before.to_owned(),
    };
    Ok(Some(format!("{before}<entry xmlns=\"{NAMESPACE}\">{xml}{after}")))
}

/// A time as feeds write it (RFC 3339), to the second.
fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Howard Hinnant's algorithm, in years that begin with March: a leap day is the last of its year.
    let days = days.saturating_add(719_468);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let of_era_year =
        (of_era.saturating_sub(of_era / 1460).saturating_add(of_era / 36_524).saturating_sub(of_era / 146_096)) / 365;
    let before = 365_u64.saturating_mul(of_era_year).saturating_add(of_era_year / 4).saturating_sub(of_era_year / 100);
    let of_year = of_era.saturating_sub(before);
    let month = 5_u64.saturating_mul(of_year).saturating_add(2) / 153;
    let day = of_year.saturating_sub(153_u64.saturating_mul(month).saturating_add(2) / 5).saturating_add(1);
    let month = if month < 10 { month.saturating_add(3) } else { month.saturating_sub(9) };
    let year = era.saturating_mul(400).saturating_add(of_era_year).saturating_add(u64::from(month <= 2));
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, shown) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(date(at(seconds)), shown);
        }
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
