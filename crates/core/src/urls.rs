//! URLs of files on servers: which arguments are URLs, and URLs without their secrets.

use std::borrow::Cow;
use std::path::Path;

const SCHEMES: [&str; 3] = ["https://", "http://", "s3://"];

/// The text of `path`, if it is a URL rather than a file on this machine. A file of that name wins.
pub fn url_of(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let is_url =
        SCHEMES.iter().any(|scheme| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    (is_url && path.symlink_metadata().is_err()).then_some(text)
}

/// `text` without the secrets of the URLs in it: names and passwords before the host, and queries.
pub fn redacted(text: &str) -> Cow<'_, str> {
    const MARK: &str = "://";
    if !text.contains(MARK) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(MARK) {
        out.push_str(before);
        out.push_str(MARK);
        let end = after.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`')).unwrap_or(after.len());
        let (mut url, left) = after.split_at(end);
        let (authority, _) = url.split_once(['/', '?']).unwrap_or((url, ""));
        if let Some(at) = authority.rfind('@') {
            out.push('…');
            (_, url) = url.split_at(at);
        }
        match url.split_once('?') {
            Some((path, query)) => {
                out.push_str(path);
                out.push_str("?…");
                // The colon after a URL in a message is no part of its query.
                out.push_str(if query.ends_with(':') { ":" } else { "" });
            }
            None => out.push_str(url),
        }
        rest = left;
    }
    out.push_str(rest);
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_known_by_their_scheme() {
        for url in ["https://host/a.bin", "HTTP://host:80/a?b", "s3://bucket/key"] {
            assert_eq!(url_of(Path::new(url)), Some(url));
        }
        for file in ["https:/a", "wows:content", "a/https://host/a", "ftp://host/a", "http:"] {
            assert_eq!(url_of(Path::new(file)), None, "{file}");
        }
    }

    #[test]
    fn messages_show_urls_without_their_secrets() {
        for (text, shown) in [
            ("https://h/a?sig=SECRET: not found", "https://h/a?…: not found"),
            ("\"http://me:SECRET@h:80/a\" and s3://b/k", "\"http://…@h:80/a\" and s3://b/k"),
            ("https://h?SECRET https://h/@x?SECRET#SECRET", "https://h?… https://h/@x?…"),
            ("https://me@h?u=https://SECRET", "https://…@h?…"),
            ("content/a.bin?b: not found", "content/a.bin?b: not found"),
        ] {
            assert_eq!(redacted(text), shown);
        }
    }
}
