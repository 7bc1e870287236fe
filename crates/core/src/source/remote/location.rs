//! Where a file on a server is: its URL for requests, its name for messages, and the key of its store.

use super::sign::Credentials;
use crate::error::{Error, Result};
use std::fmt;
use std::io;

/// The place of a file on a server.
pub(super) struct Location {
    /// With the query, which may be a secret.
    pub(super) url: String,
    /// As the user gave it, without the query.
    pub(super) name: String,
    /// The host and port, and the percent-encoded path.
    pub(super) host: String,
    pub(super) path: String,
    pub(super) is_store: bool,
    pub(super) credentials: Option<Credentials>,
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Location").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Bytes of a path that are sent as they are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Characters that a URL may contain. It is percent-encoded already.
    Url,
    /// Characters that the signature of S3 leaves unencoded.
    Key,
}

impl Location {
    /// The place that `text` names, with settings from the environment `env`, which has no empty ones.
    ///
    /// # Errors
    /// For a URL without a host, bucket or key, with a password, or with a pattern; and for an incomplete key.
    pub(super) fn of(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        match scheme.to_ascii_lowercase().as_str() {
            "s3" => Self::in_store(rest, env),
            scheme => Self::on_server(scheme, rest),
        }
    }

    fn on_server(scheme: &str, rest: &str) -> Result<Self> {
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
        let (host, path) = split_host(place);
        check_host(host)?;
        check_path(path)?;
        let path = if path.is_empty() { "/".to_owned() } else { encoded(path, Keep::Url) };
        let name = format!("{scheme}://{place}");
        let mut url = format!("{scheme}://{host}{path}");
        if let Some(query) = query {
            url = format!("{url}?{}", encoded(query, Keep::Url));
        }
        Ok(Self { url, name, host: host.to_owned(), path, is_store: false, credentials: None })
    }

    fn in_store(rest: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() || key.is_empty() {
            return Err(invalid("an object in a store is s3://BUCKET/KEY"));
        }
        if !bucket.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)) {
            return Err(invalid("a bucket has letters, digits, and - . _ in its name"));
        }
        check_path(key)?;
        let region = env("AWS_REGION").or_else(|| env("AWS_DEFAULT_REGION")).unwrap_or_else(|| "us-east-1".to_owned());
        if !region.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return Err(invalid("AWS_REGION is no name of a region"));
        }
        let path = encoded(key, Keep::Key);
        let (scheme, host, path) = match env("AWS_ENDPOINT_URL_S3").or_else(|| env("AWS_ENDPOINT_URL")) {
            Some(endpoint) => {
                const NO_ENDPOINT: &str = "AWS_ENDPOINT_URL is no https://HOST or http://HOST";
                let (scheme, place) = endpoint.split_once("://").ok_or_else(|| invalid(NO_ENDPOINT))?;
                let (host, before) = split_host(place);
                check_host(host).map_err(|error| error.context("AWS_ENDPOINT_URL"))?;
                if !matches!(scheme, "http" | "https") || before.contains(['?', '#']) {
                    return Err(invalid(NO_ENDPOINT));
                }
                let before = encoded(before.trim_end_matches('/'), Keep::Url);
                (scheme.to_owned(), host.to_owned(), format!("{before}/{bucket}/{path}"))
            }
            // A certificate for all buckets has no names with further dots.
            None if bucket.contains('.') => {
                ("https".to_owned(), format!("s3.{region}.amazonaws.com"), format!("/{bucket}/{path}"))
            }
            None => ("https".to_owned(), format!("{bucket}.s3.{region}.amazonaws.com"), format!("/{path}")),
        };
        let credentials = match (env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY")) {
            (Some(id), Some(secret)) => Some(Credentials { id, secret, token: env("AWS_SESSION_TOKEN"), region }),
            (None, None) => None,
            _ => return Err(invalid("only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set")),
        };
        let url = format!("{scheme}://{host}{path}");
        Ok(Self { url, name: format!("s3://{bucket}/{key}"), host, path, is_store: true, credentials })
    }
}

fn invalid(what: &'static str) -> Error {
    Error::io("cannot open", io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// The host with its port, and the path from its `/` on.
fn split_host(place: &str) -> (&str, &str) {
    place.split_at_checked(place.find('/').unwrap_or(place.len())).unwrap_or((place, ""))
}

fn check_host(host: &str) -> Result<()> {
    if host.contains('@') {
        return Err(invalid("a URL with a user or a password before its host is not opened: leave them out"));
    }
    if host.is_empty() || !host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:[]%".contains(&b)) {
        return Err(invalid("the URL has no valid host"));
    }
    Ok(())
}

fn check_path(path: &str) -> Result<()> {
    if path.contains('*') {
        return Err(invalid("a pattern selects no files on a server: name one file"));
    }
    Ok(())
}

fn encoded(text: &str, keep: Keep) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let is_kept = match keep {
            Keep::Key => byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte),
            Keep::Url => byte.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(&byte),
        };
        let _ = if is_kept { write!(out, "{}", char::from(byte)) } else { write!(out, "%{byte:02X}") };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, env: &[(&str, &str)]) -> Result<Location> {
        Location::of(text, &|name| env.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_url_keeps_its_query_and_its_name_does_not() {
        let place = of("HTTPS://host:8443/b ü/a.bin?sig=a%2Fb#part", &[]).unwrap();
        assert_eq!(place.url, "https://host:8443/b%20%C3%BC/a.bin?sig=a%2Fb");
        assert_eq!((&*place.name, &*place.host), ("https://host:8443/b ü/a.bin", "host:8443"));
        assert!(!format!("{place:?}").contains("sig"));
        assert_eq!(of("http://[::1]:80", &[]).unwrap().url, "http://[::1]:80/");
    }

    #[test]
    fn an_object_is_addressed_as_its_store_takes_it() {
        let key = [("AWS_ACCESS_KEY_ID", "ID"), ("AWS_SECRET_ACCESS_KEY", "SECRET")];
        let place = of("s3://builds/12/assets (new).bin", &key).unwrap();
        assert_eq!(place.url, "https://builds.s3.us-east-1.amazonaws.com/12/assets%20%28new%29.bin");
        assert_eq!(place.name, "s3://builds/12/assets (new).bin");
        assert_eq!(place.credentials.unwrap().region, "us-east-1");
        let dotted = of("s3://my.builds/a", &[("AWS_REGION", "eu-west-1")]).unwrap();
        assert_eq!(dotted.url, "https://s3.eu-west-1.amazonaws.com/my.builds/a");
        assert!(dotted.credentials.is_none());
        let own = of("s3://builds/a", &[("AWS_ENDPOINT_URL", "http://127.0.0.1:9000/")]).unwrap();
        assert_eq!((&*own.url, &*own.host), ("http://127.0.0.1:9000/builds/a", "127.0.0.1:9000"));
    }

    #[test]
    fn what_names_no_object_is_refused_without_its_secrets() {
        for (text, env, what) in [
            ("https://me:HIDDEN@host/a", None, "a user or a password"),
            ("https:///a", None, "no valid host"),
            ("https://ho st/a", None, "no valid host"),
            ("https://host/*.bin", None, "name one file"),
            ("s3://builds", None, "s3://BUCKET/KEY"),
            ("s3:///a", None, "s3://BUCKET/KEY"),
            ("s3://bu%63ket/a", None, "a bucket has"),
            ("s3://builds/**", None, "name one file"),
            ("s3://builds/a", Some(("AWS_SECRET_ACCESS_KEY", "HIDDEN")), "only one of"),
            ("s3://builds/a", Some(("AWS_ENDPOINT_URL", "http://me:HIDDEN@host")), "a user or a password"),
            ("s3://builds/a", Some(("AWS_ENDPOINT_URL", "file:///HIDDEN")), "no valid host"),
            ("s3://builds/a", Some(("AWS_ENDPOINT_URL", "ftp://host")), "is no https://HOST"),
            ("s3://builds/a", Some(("AWS_REGION", "HIDDEN/")), "no name of a region"),
        ] {
            let error = of(text, env.as_slice()).unwrap_err().to_string();
            assert!(error.contains(what) && !error.contains("HIDDEN"), "{text}: {error}");
        }
    }
}
