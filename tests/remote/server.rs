//! A web server for one file, on this machine, that counts requests and misbehaves on demand.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

/// A request for the file.
pub struct Request {
    /// Counted from 0.
    pub number: usize,
    pub range: Option<RangeInclusive<usize>>,
    pub head: Vec<String>,
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&String| line.split(':').next().is_some_and(|found| found.eq_ignore_ascii_case(name));
        Some(self.head.iter().find(named)?.split_once(':')?.1.trim())
    }
}

pub enum Answer {
    /// Bytes as they are sent, after which the connection stays open.
    Raw(Vec<u8>),
    /// Bytes after which the connection is closed.
    Last(Vec<u8>),
    /// A head, and a body without an end.
    Endless(Vec<u8>),
    /// No answer as long as the client waits.
    Silence,
}

/// A server that ends with the process.
pub struct Server {
    port: u16,
    requests: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
}

impl Server {
    /// Serves `file` as a server does that knows ranges.
    pub fn of(file: Vec<u8>) -> Self {
        Self::that(file, ranges)
    }

    /// Serves `file` with these answers.
    pub fn that(file: Vec<u8>, answer: impl Fn(&Request, &[u8]) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (requests, bytes) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            requests: Arc::clone(&requests),
            bytes: Arc::clone(&bytes),
        };
        let shared = Arc::new((file, answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (shared, requests, bytes) = (Arc::clone(&shared), Arc::clone(&requests), Arc::clone(&bytes));
                thread::spawn(move || {
                    // A client may leave at any time.
                    let _ = serve(&stream?, &shared.0, &shared.1, &requests, &bytes);
                    std::io::Result::Ok(())
                });
            }
        });
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    pub fn requests(&self) -> usize {
        self.requests.load(SeqCst)
    }

    /// Bytes of all answers, with their heads.
    pub fn bytes(&self) -> usize {
        self.bytes.load(SeqCst)
    }
}

fn serve(
    mut stream: &TcpStream,
    file: &[u8],
    answer: &impl Fn(&Request, &[u8]) -> Answer,
    requests: &AtomicUsize,
    bytes: &AtomicUsize,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    loop {
        let mut head = Vec::new();
        loop {
            match lines.next() {
                Some(line) => match line? {
                    line if line.is_empty() => break,
                    line => head.push(line),
                },
                None => return Ok(()),
            }
        }
        let mut request = Request { number: requests.fetch_add(1, SeqCst), range: None, head };
        request.range = request.header("range").map(|range| {
            let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
            first.parse().unwrap()..=last.parse().unwrap()
        });
        let mut send = |sent: &[u8]| {
            bytes.fetch_add(sent.len(), SeqCst);
            stream.write_all(sent)
        };
        match answer(&request, file) {
            Answer::Raw(all) => send(&all)?,
            Answer::Last(all) => return send(&all),
            Answer::Endless(head) => {
                send(&head)?;
                loop {
                    send(&[0; 1 << 16])?;
                }
            }
            Answer::Silence => {
                // The client closes the connection.
                lines.next();
                return Ok(());
            }
        }
    }
}

/// The head of an answer with these lines, and a body.
pub fn answer(status: &str, lines: &[&str], body: &[u8]) -> Vec<u8> {
    let head = lines.iter().fold(format!("HTTP/1.1 {status}\r\n"), |head, line| head + line + "\r\n");
    [head.as_bytes(), b"\r\n", body].concat()
}

/// The range of a request in the file.
pub fn range<'f>(request: &Request, file: &'f [u8]) -> (RangeInclusive<usize>, &'f [u8]) {
    let asked = request.range.clone().unwrap();
    let range = *asked.start()..=(*asked.end()).min(file.len() - 1);
    (range.clone(), &file[range])
}

/// The answer of a server that knows ranges.
pub fn ranges(request: &Request, file: &[u8]) -> Answer {
    ranges_of(request, file, "\"1\"")
}

/// The same of the version `tag` of the file.
pub fn ranges_of(request: &Request, file: &[u8], tag: &str) -> Answer {
    if request.header("if-match").is_some_and(|wanted| wanted != tag) {
        return Answer::Raw(answer("412 Precondition Failed", &["Content-Length: 0"], b""));
    }
    let (range, body) = range(request, file);
    let lines = [
        format!("Content-Range: bytes {}-{}/{}", range.start(), range.end(), file.len()),
        format!("Content-Length: {}", body.len()),
        format!("ETag: {tag}"),
    ];
    Answer::Raw(answer("206 Partial Content", &lines.each_ref().map(String::as_str), body))
}
