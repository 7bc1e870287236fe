use super::server::{Answer, Request, answer, range, ranges, ranges_of};
use super::{Server, run};
use assetq::Source;
use assetq::write::atomic_file::{AtomicFile, Overwrite};
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use tempfile::TempDir;

/// The error of opening a file of 200,000 bytes on a server that answers like this, and the number of requests.
fn refused(answer: impl Fn(&Request, &[u8]) -> Answer + Send + Sync + 'static) -> (String, usize) {
    let server = Server::that(vec![7; 200_000], answer);
    let url = server.url("a.bin?sig=SECRET");
    let (out, error) = run(Path::new("."), 4, &["info", &url], &[("ASSETQ_REMOTE_TIMEOUT", "1")]);
    assert!(out.is_empty() && !error.contains("SECRET"), "{out}{error}");
    let start = format!("assetq: {}?…: cannot fetch: ", server.url("a.bin"));
    let message = error.strip_prefix(&start).unwrap_or_else(|| panic!("{error}")).trim_end().to_owned();
    (message, server.requests())
}

/// An answer with a status and lines, and the requested range as its body.
fn with(status: &'static str, lines: &'static [&str]) -> impl Fn(&Request, &[u8]) -> Answer + Send + Sync + 'static {
    move |request, file| Answer::Last(answer(status, lines, range(request, file).1))
}

#[test]
fn a_server_that_sends_something_else_is_an_error_with_the_range() {
    const OF_206: &str = "206 Partial Content";
    const RANGE: &str = "Content-Range: bytes 0-65535/200000";
    for (status, lines, what) in [
        ("200 OK", &["Content-Length: 65536"][..], "sends only whole files, no ranges of them: download it first"),
        (OF_206, &["Content-Length: 65536"], "without a valid Content-Range"),
        (OF_206, &["Content-Range: bytes 0-65535/*"], "does not know the length of the file: download it first"),
        (OF_206, &["Content-Range: bytes 0-65535/9223372036854775808"], "without a valid Content-Range"),
        (OF_206, &["Content-Range: bytes 0-65535/99999999999999999999"], "without a valid Content-Range"),
        (OF_206, &["Content-Range: bytes 0-18446744073709551615/200000"], "without a valid Content-Range"),
        (OF_206, &["Content-Range: bytes 0-65535/65535"], "without a valid Content-Range"),
        (OF_206, &["Content-Range: bytes 1-65536/200000"], "the server sent bytes 1 to 65536 instead"),
        (OF_206, &["Content-Range: bytes 0-9/200000"], "the server sent bytes 0 to 9 instead"),
        (OF_206, &[RANGE, "Content-Length: 65537"], "sends 65537 bytes for a range of 65536"),
        (OF_206, &[RANGE, "Content-Length: 9223372036854775808"], "sends 9223372036854775808 bytes for a range"),
        (OF_206, &[RANGE, "Content-Encoding: gzip"], "sends the file compressed (gzip)"),
        ("403 Forbidden", &["Content-Length: 0"], "refuses access (403 Forbidden): a signed URL may have expired"),
        ("404 Not Found", &["Content-Length: 0"], "has no such file (404 Not Found)"),
        ("302 Found", &["Location: file:///etc/passwd", "Content-Length: 0"], ""),
        ("302 Found", &["Location: /a.bin", "Content-Length: 0"], "redirects too often"),
        ("418 I'm a teapot", &["Content-Length: 0"], "refuses (418"),
        ("no HTTP", &[], "no valid HTTP"),
    ] {
        let (message, requests) = refused(with(status, lines));
        assert!(message.contains(what) && message.ends_with("(bytes 0 to 65535)"), "{status} {lines:?}: {message}");
        assert!(requests == 1 || status.starts_with("302"), "{status} {lines:?}: {requests} requests");
    }
}

#[test]
fn a_body_without_an_end_is_cut() {
    let head = answer("206 Partial Content", &["Content-Range: bytes 0-65535/200000", "Connection: close"], b"");
    let (message, requests) = refused(move |_, _| Answer::Endless(head.clone()));
    assert!(message.starts_with("the server sends more bytes than the range has"), "{message}");
    assert_eq!(requests, 1);
    let (message, _) = refused(|_, _| Answer::Endless(b"HTTP/1.1 206 Partial Content\r\n".to_vec()));
    assert!(message.contains("HTTP") || message.contains("too large"), "{message}");
}

#[test]
fn a_failure_that_may_pass_is_tried_three_times() {
    let short =
        answer("206 Partial Content", &["Content-Range: bytes 0-65535/200000", "Content-Length: 65536"], &[7; 1000]);
    let unwell = answer("503 Service Unavailable", &["Content-Length: 0"], b"");
    for (last, what) in [
        (short, "the answer ended 64536 bytes early"),
        (unwell, "the server failed (503 Service Unavailable)"),
        (Vec::new(), "the connection failed"),
    ] {
        let (message, requests) = refused(move |_, _| Answer::Last(last.clone()));
        assert!(message.contains(what) || message.contains("Peer disconnected"), "{message}");
        assert!(message.ends_with("(bytes 0 to 65535, in 3 tries)"), "{message}");
        assert_eq!(requests, 3);
    }
    let (message, requests) = refused(|_, _| Answer::Silence);
    assert!(message.contains("did not answer in time") && requests <= 3, "{message}");
}

#[test]
fn a_failure_that_passes_is_no_failure() {
    let server = Server::that(vec![7; 200_000], |request, file| match request.number {
        0 | 2 => Answer::Last(answer("500 Oh", &["Content-Length: 0"], b"")),
        // A part, whose rest the next request takes.
        3 => {
            let Answer::Raw(mut all) = ranges(request, file) else { unreachable!() };
            all.truncate(all.len() - 1000);
            Answer::Last(all)
        }
        _ => ranges(request, file),
    });
    let source = Source::open_url(&server.url("a.bin"), false, None).unwrap();
    assert!(source.bytes() == [7; 200_000] && source.fault().is_none());
}

#[test]
fn nobody_at_the_port_is_an_error() {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/a.bin");
    let (_, error) = run(Path::new("."), 4, &["info", &url], &[]);
    assert!(error.contains("refused") && error.contains("in 3 tries"), "{error}");
}

/// A server that fails after the first requests, for a file of some megabytes.
fn failing(after: usize, tag: &'static str) -> Server {
    Server::that(assetq_sample::bwdb::demo_of(3, 3 << 20), move |request, file| match request.number {
        number if number < after => ranges_of(request, file, "\"1\""),
        _ if tag.is_empty() => Answer::Last(Vec::new()),
        _ => ranges_of(request, file, tag),
    })
}

#[test]
fn a_server_that_dies_in_the_middle_leaves_no_output() {
    let folder = TempDir::new().unwrap();
    for (to, args) in [
        ("a.csv", &["export", "--to", "a.csv"][..]),
        ("a.parquet", &["export", "--to", "a.parquet"]),
        (
            "b.bin",
            &[
                "sql",
                "UPDATE material_properties SET value = 'false' WHERE type = 'bool' AND record = 0",
                "--to",
                "b.bin",
            ],
        ),
    ] {
        let server = failing(3, "");
        let url = server.url("assets.bin?sig=SECRET");
        let args: Vec<&str> = args.iter().copied().chain([&*url]).collect();
        let (_, error) = run(folder.path(), 4, &args, &[]);
        let start = format!("assetq: {}: cannot fetch: ", server.url("assets.bin"));
        assert!(error.starts_with(&start) && error.ends_with(", in 3 tries)\n"), "{args:?}: {error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{to}");
        assert!(server.requests() <= 3 + 3 * 2, "{}", server.requests());
    }
}

#[test]
fn a_file_that_changes_on_the_server_is_an_error() {
    for tag in ["\"2\"", "W/\"1\""] {
        let server = failing(2, tag);
        let (_, error) = run(Path::new("."), 4, &["verify", &server.url("assets.bin")], &[]);
        assert!(error.contains("the file changed on the server after it was opened"), "{error}");
        assert_eq!(server.requests(), 3);
    }
}

#[test]
fn a_library_learns_of_bytes_that_are_missing_and_keeps_no_file_of_them() {
    let folder = TempDir::new().unwrap();
    let server = Server::that(vec![7; 200_000], |request, file| match request.number {
        0 => ranges(request, file),
        _ => Answer::Last(answer("404 Not Found", &["Content-Length: 0"], b"")),
    });
    let source = Source::open_url(&server.url("a.bin"), false, None).unwrap();
    assert_eq!((source.bytes()[65_535], source.fault().is_some()), (7, false));
    assert_eq!((source.bytes()[70_000], source.bytes()[199_999]), (0, 0));
    let fault = source.fault().unwrap().to_string();
    assert!(fault.contains("no such file (404 Not Found) (bytes 65536 to 81919)"), "{fault}");
    assert_eq!(server.requests(), 2);
    let to = folder.path().join("copy.bin");
    let commit = || AtomicFile::create(&to, Overwrite::Refuse).unwrap().commit();
    assert!(commit().unwrap_err().to_string().contains("no such file"));
    assert!(!to.exists());
    drop(source);
    commit().unwrap();
}

#[test]
fn what_names_no_file_on_a_server_is_refused_without_its_secrets() {
    for (url, what) in [
        ("http://me:SECRET@127.0.0.1:1/a.bin", "a user or a password"),
        ("http://127.0.0.1:1/*.bin", "a pattern selects no files on a server"),
        ("s3://bucket", "s3://BUCKET/KEY"),
    ] {
        let (_, error) = run(Path::new("."), 4, &["info", url], &[]);
        assert!(error.contains(what) && !error.contains("SECRET"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let (_, error) = run(Path::new("."), 2, &["info", "--nonsense", "http://h/a?SECRET"], &[]);
    assert!(!error.contains("SECRET"), "{error}");
}
