//! Requests for ranges of one file on a server. Nothing in an answer is trusted.

use super::location::Location;
use crate::error::{Error, Result};
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};
use ureq::http::{HeaderMap, StatusCode, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

/// Requests for one range, before it fails, and the pauses between them.
const TRIES: usize = 3;
const PAUSES: [Duration; TRIES - 1] = [Duration::from_millis(200), Duration::from_millis(1000)];
/// A server may send the browser elsewhere, but not for ever.
const REDIRECTS: u32 = 5;
/// Bytes of the body of an error that are searched for its code.
const ERROR_BODY: u64 = 4096;
/// Bytes that are read at once.
const PORTION: usize = 1 << 16;

/// The file on a server: what tells it from an earlier or later one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    len: u64,
    tag: Option<String>,
    modified: Option<String>,
}

/// The requests of one file, and the bytes that they returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteStats {
    /// Requests, with those that failed.
    pub requests: u64,
    /// Bytes of the file that were received.
    pub bytes: u64,
}

/// Counters of requests and bytes.
#[derive(Debug, Default)]
pub(super) struct Counted {
    requests: AtomicU64,
    bytes: AtomicU64,
}

/// The requests of all files.
pub(super) static TOTAL: Counted = Counted { requests: AtomicU64::new(0), bytes: AtomicU64::new(0) };

impl Counted {
    pub(super) fn stats(&self) -> RemoteStats {
        RemoteStats { requests: self.requests.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }
}

/// A file on a server, as it was when it was opened.
#[derive(Debug)]
pub(in crate::source) struct Object {
    location: Location,
    agent: Agent,
    /// The longest wait for a connection, an answer, and further bytes.
    patience: Duration,
    identity: Identity,
    counted: Counted,
    fault: OnceLock<Error>,
}

/// Why a request failed, and whether it may succeed later.
struct Trouble {
    is_lasting: bool,
    kind: ErrorKind,
    what: String,
}

impl Trouble {
    fn lasting(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self { is_lasting: true, kind, what: what.into() }
    }

    fn passing(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self { is_lasting: false, kind, what: what.into() }
    }

    fn invalid(what: impl Into<String>) -> Self {
        Self::lasting(ErrorKind::InvalidData, what)
    }

    fn changed() -> Self {
        Self::lasting(ErrorKind::Other, "the file changed on the server after it was opened: run the command again")
    }
}

impl Object {
    /// Opens the file, with one request for its first `head` bytes, which are returned as well.
    ///
    /// # Errors
    /// `Io` if the file cannot be read in ranges.
    pub(super) fn open(location: Location, head: u64, patience: Duration) -> Result<(Self, Vec<u8>)> {
        let mut tls = TlsConfig::builder();
        if location.url.starts_with("https") {
            tls = tls.root_certs(RootCerts::PlatformVerifier);
        }
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(location.url.starts_with("https"))
            // A signature holds for one host and path.
            .max_redirects(if location.is_store { 0 } else { REDIRECTS })
            .user_agent(concat!("assetq/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(patience))
            .timeout_connect(Some(patience))
            .timeout_recv_response(Some(patience))
            .timeout_per_read(Some(patience))
            .tls_config(tls.build())
            .build()
            .new_agent();
        let identity = Identity { len: 0, tag: None, modified: None };
        let (counted, fault) = Default::default();
        let mut object = Self { location, agent, patience, identity, counted, fault };
        let mut start = Vec::new();
        let identity = object.with_retries(0..head, |object, left| {
            start.clear();
            let (identity, range, mut body) = object.request(0..head, None, left)?;
            object.receive(&mut body, &range, &mut |bytes| start.extend_from_slice(bytes))?;
            Ok(identity)
        })?;
        object.identity = identity;
        Ok((object, start))
    }

    /// The name for messages, without secrets.
    pub(in crate::source) fn name(&self) -> &str {
        &self.location.name
    }

    pub(super) fn len(&self) -> u64 {
        self.identity.len
    }

    /// Why bytes that were read are missing.
    pub(in crate::source) fn fault(&self) -> Option<&Error> {
        self.fault.get()
    }

    /// Notes the first fault. Returns whether this was the first.
    pub(super) fn set_fault(&self, error: Error) -> bool {
        self.fault.set(error).is_ok()
    }

    pub(in crate::source) fn stats(&self) -> RemoteStats {
        self.counted.stats()
    }

    /// Fetches the bytes in `range`, and passes them on in order, as they arrive.
    ///
    /// # Errors
    /// `Io` if a part of the range cannot be fetched: after a few tries, or at once if no try would succeed.
    pub(super) fn fetch(&self, range: Range<u64>, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut at = range.start;
        self.with_retries(range.clone(), |object, left| {
            // A further try begins where the last one ended.
            let (_, range, mut body) = object.request(at..range.end, Some(&object.identity), left)?;
            object.receive(&mut body, &range, &mut |bytes| {
                at += bytes.len() as u64;
                take(bytes);
            })
        })
    }

    fn with_retries<T>(
        &self,
        range: Range<u64>,
        mut attempt: impl FnMut(&Self, Duration) -> Result<T, Trouble>,
    ) -> Result<T> {
        let begun = Instant::now();
        let all = self.patience * 4;
        let mut pauses = PAUSES.into_iter();
        let mut tries = 1;
        loop {
            let trouble = match attempt(self, all.saturating_sub(begun.elapsed())) {
                Ok(done) => return Ok(done),
                Err(trouble) => trouble,
            };
            let pause = pauses.next().filter(|pause| !trouble.is_lasting && begun.elapsed() + *pause < all);
            if let Some(pause) = pause {
                std::thread::sleep(pause);
                tries += 1;
                continue;
            }
            let tried = if tries > 1 { format!(", in {tries} tries") } else { String::new() };
            let what = format!("{} (bytes {} to {}{tried})", trouble.what, range.start, range.end - 1);
            return Err(Error::io("cannot fetch", io::Error::new(trouble.kind, what)));
        }
    }

    /// Requests a range of the file, which has `identity` if that is known. Returns its identity, the range that was
    /// sent, and the body with that range.
    fn request(
        &self,
        range: Range<u64>,
        identity: Option<&Identity>,
        left: Duration,
    ) -> Result<(Identity, Range<u64>, Body), Trouble> {
        for counted in [&self.counted, &TOTAL] {
            counted.requests.fetch_add(1, Ordering::Relaxed);
        }
        let bytes = format!("bytes={}-{}", range.start, range.end - 1);
        let mut request = self.agent.get(&self.location.url).header(header::RANGE, &bytes);
        // A range of compressed bytes would be of no use.
        request = request.header(header::ACCEPT_ENCODING, "identity");
        if let Some(Identity { tag, modified, .. }) = identity {
            request = match (tag.as_deref().filter(|tag| !tag.starts_with("W/")), modified) {
                (Some(tag), _) => request.header(header::IF_MATCH, tag),
                (None, Some(modified)) => request.header(header::IF_UNMODIFIED_SINCE, modified),
                (None, None) => request,
            };
        }
        if let Some(credentials) = &self.location.credentials {
            let Location { host, path, .. } = &self.location;
            for (name, value) in credentials.headers(host, path, &bytes, SystemTime::now()) {
                request = request.header(name, value);
            }
        }
        let response = request.config().timeout_global(Some(left)).build().call().map_err(unanswered)?;
        let (parts, mut body) = response.into_parts();
        let headers = &parts.headers;
        if parts.status != StatusCode::PARTIAL_CONTENT {
            let is_empty = match parts.status {
                StatusCode::OK => body.content_length() == Some(0),
                StatusCode::RANGE_NOT_SATISFIABLE => text_of(headers, header::CONTENT_RANGE) == Some("bytes */0"),
                _ => false,
            };
            return match identity {
                None if is_empty => Ok((Identity { len: 0, tag: None, modified: None }, 0..0, body)),
                _ => Err(self.refusal(parts.status, headers, &mut body, identity.is_some())),
            };
        }
        if let Some(encoding) = text_of(headers, header::CONTENT_ENCODING).filter(|encoding| *encoding != "identity") {
            return Err(Trouble::invalid(format!("the server sends the file compressed ({encoding}): {DOWNLOAD}")));
        }
        let (sent, len) = content_range(text_of(headers, header::CONTENT_RANGE))?;
        let found = Identity {
            len,
            tag: text_of(headers, header::ETAG).map(str::to_owned),
            modified: text_of(headers, header::LAST_MODIFIED).map(str::to_owned),
        };
        if identity.is_some_and(|opened| *opened != found) {
            return Err(Trouble::changed());
        }
        if sent != (range.start..range.end.min(len)) {
            let (first, last) = (sent.start, sent.end - 1);
            return Err(Trouble::invalid(format!("the server sent bytes {first} to {last} instead")));
        }
        let wanted = sent.end - sent.start;
        match body.content_length() {
            Some(length) if length != wanted => {
                Err(Trouble::invalid(format!("the server sends {length} bytes for a range of {wanted}")))
            }
            _ => Ok((found, sent, body)),
        }
    }

    /// Reads the body of an answer, which has the bytes in `range` and no more.
    fn receive(&self, body: &mut Body, range: &Range<u64>, take: &mut dyn FnMut(&[u8])) -> Result<(), Trouble> {
        let mut reader = body.with_config().limit(u64::MAX).reader();
        let mut wanted = BufReader::with_capacity(PORTION, reader.by_ref().take(range.end - range.start));
        loop {
            let bytes = wanted.fill_buf().map_err(|error| unanswered(error.into()))?;
            if bytes.is_empty() {
                break;
            }
            for counted in [&self.counted, &TOTAL] {
                counted.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            }
            take(bytes);
            let taken = bytes.len();
            wanted.consume(taken);
        }
        match wanted.into_inner().limit() {
            0 => {}
            left => {
                let what = format!("the answer ended {left} bytes early");
                return Err(Trouble::passing(ErrorKind::UnexpectedEof, what));
            }
        }
        // Without a length in its head, the body may go on.
        match reader.read(&mut [0]) {
            Ok(1..) => Err(Trouble::invalid("the server sends more bytes than the range has")),
            _ => Ok(()),
        }
    }

    /// Why there is no range in an answer.
    fn refusal(&self, status: StatusCode, headers: &HeaderMap, body: &mut Body, is_open: bool) -> Trouble {
        let location = &self.location;
        let code = match location.is_store {
            true => error_code(body).map_or_else(|| status.to_string(), |code| format!("{status}, {code}")),
            false => status.to_string(),
        };
        match status.as_u16() {
            200 => Trouble::lasting(
                ErrorKind::Unsupported,
                format!("the server sends only whole files, no ranges of them: {DOWNLOAD}"),
            ),
            412 if is_open => Trouble::changed(),
            416 if is_open => Trouble::changed(),
            300..=399 if location.is_store => {
                let region = text_of(headers, "x-amz-bucket-region")
                    .filter(|region| region.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
                let what =
                    region.map_or("set AWS_REGION or AWS_ENDPOINT_URL".to_owned(), |r| format!("set AWS_REGION={r}"));
                Trouble::lasting(ErrorKind::Other, format!("the bucket is in another place ({code}): {what}"))
            }
            401 | 403 => {
                let what = match (location.is_store, &location.credentials) {
                    (true, Some(_)) => {
                        "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION"
                    }
                    (true, None) => "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
                    (false, _) => "a signed URL may have expired",
                };
                Trouble::lasting(ErrorKind::PermissionDenied, format!("the server refuses access ({code}): {what}"))
            }
            404 | 410 => Trouble::lasting(ErrorKind::NotFound, format!("the server has no such file ({code})")),
            408 | 425 | 429 | 500..=599 => Trouble::passing(ErrorKind::Other, format!("the server failed ({code})")),
            _ => Trouble::lasting(ErrorKind::Other, format!("the server refuses ({code})")),
        }
    }
}

/// The way out where ranges are of no use.
const DOWNLOAD: &str = "download it first, and name the copy";

/// The failure of a request without a complete answer. No message of another host's address is passed on.
fn unanswered(error: ureq::Error) -> Trouble {
    use ureq::Error as E;
    match error {
        // A certificate that is not trusted remains so.
        E::Io(error) if error.kind() == ErrorKind::InvalidData => {
            Trouble::invalid(format!("no secure connection: {error}"))
        }
        E::Io(error) => Trouble::passing(error.kind(), format!("the connection failed: {error}")),
        E::Timeout(_) => Trouble::passing(ErrorKind::TimedOut, "the server did not answer in time"),
        E::HostNotFound => Trouble::lasting(ErrorKind::NotFound, "no host has this name"),
        E::RequireHttpsOnly(_) => {
            Trouble::lasting(ErrorKind::Unsupported, "the server redirects to a connection without encryption")
        }
        E::TooManyRedirects => Trouble::lasting(ErrorKind::Other, "the server redirects too often"),
        E::BadUri(_) | E::Http(_) => {
            Trouble::lasting(ErrorKind::InvalidInput, "the URL, or the one it redirects to, is invalid")
        }
        E::LargeResponseHeader(..) => Trouble::invalid("the head of the answer is too large"),
        E::Rustls(error) => Trouble::invalid(format!("no secure connection: {error}")),
        E::InvalidProxyUrl | E::ConnectProxyFailed(_) => {
            Trouble::lasting(ErrorKind::Other, "the proxy of the environment cannot be used")
        }
        _ => Trouble::invalid("the answer is no valid HTTP"),
    }
}

fn text_of(headers: &HeaderMap, name: impl header::AsHeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn number(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The range and the text of the length in a `Content-Range` header.
fn split_range(header: &str) -> Option<(Range<u64>, &str)> {
    let (range, len) = header.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, end) = (number(first)?, number(last)?.checked_add(1)?);
    Some((first..end, len)).filter(|_| first < end)
}

/// The range and the length in a `Content-Range` header.
fn content_range(header: Option<&str>) -> Result<(Range<u64>, u64), Trouble> {
    let Some((range, len)) = header.and_then(split_range) else {
        return Err(Trouble::invalid("the server sends a range without a valid Content-Range"));
    };
    if len == "*" {
        return Err(Trouble::invalid(format!("the server does not know the length of the file: {DOWNLOAD}")));
    }
    match number(len) {
        Some(len) if range.end <= len && isize::try_from(len).is_ok() => Ok((range, len)),
        _ => Err(Trouble::invalid("the server sends a range without a valid Content-Range")),
    }
}

/// The code in an error of S3.
fn error_code(body: &mut Body) -> Option<String> {
    let mut text = Vec::new();
    body.with_config().limit(u64::MAX).reader().take(ERROR_BODY).read_to_end(&mut text).ok()?;
    let text = String::from_utf8(text).ok()?;
    let (code, _) = text.split_once("<Code>")?.1.split_once("</Code>")?;
    (code.len() < 64 && code.bytes().all(|b| b.is_ascii_alphanumeric())).then(|| code.to_owned())
}

/// Files whose bytes could not be fetched, as long as they are open.
static FAULTY: Mutex<Vec<Weak<Object>>> = Mutex::new(Vec::new());

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "downloads fail at once"))]
pub(super) fn note_fault(object: &Arc<Object>, error: Error) {
    if object.set_fault(error) {
        FAULTY.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(object));
    }
}

/// # Errors
/// If bytes of an open file could not be fetched: what was made of them may be wrong, and is not to be kept.
pub fn check_faults() -> io::Result<()> {
    let mut faulty = FAULTY.lock().unwrap_or_else(PoisonError::into_inner);
    faulty.retain(|object| object.strong_count() > 0);
    let fault = faulty.iter().filter_map(Weak::upgrade).find_map(|object| {
        let fault = object.fault()?;
        Some(io::Error::other(format!("{}: {fault}", object.name())))
    });
    fault.map_or(Ok(()), Err)
}
