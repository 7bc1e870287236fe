//! An object store that checks signatures: moto, if it is installed (`pip install 'moto[server]'`).

use super::run;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running server, ended when it is dropped.
struct Moto {
    process: Child,
    port: u16,
}

impl Drop for Moto {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

impl Moto {
    /// Starts one. Without one, prints that the test is skipped.
    fn start() -> Option<Self> {
        let args = ["-H", "127.0.0.1", "-p", "0"];
        let started = Command::new("moto_server").args(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let Ok(mut process) = started else {
            eprintln!("skipped: moto_server is not installed");
            return None;
        };
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let port = lines.find_map(|line| line.unwrap().rsplit_once("http://127.0.0.1:")?.1.trim().parse().ok());
        let Some(port) = port else {
            eprintln!("skipped: moto_server does not run");
            return None;
        };
        // The server waits if its log is not read.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { process, port })
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The body of the answer to a request.
    fn request(&self, line: &str, header: &str, body: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let len = body.len();
        write!(stream, "{line} HTTP/1.0\r\nHost: 127.0.0.1\r\n{header}Content-Length: {len}\r\n\r\n").unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.split(' ').nth(1).unwrap().starts_with('2'), "{line}: {answer}");
        answer
    }

    /// Creates a user who may read, and returns the user's key. From now on, signatures are checked.
    fn key(&self) -> (String, String) {
        let scope = "Authorization: AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=a\r\n\
                     Content-Type: application/x-www-form-urlencoded\r\n";
        let ask =
            |form: &str| self.request("POST /", scope, format!("Version=2010-05-08&UserName=u&{form}").as_bytes());
        ask("Action=CreateUser");
        ask(
            "Action=PutUserPolicy&PolicyName=p&PolicyDocument=%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B\
             %7B%22Effect%22%3A%22Allow%22%2C%22Action%22%3A%22s3%3A%2A%22%2C%22Resource%22%3A%22%2A%22%7D%5D%7D",
        );
        let key = ask("Action=CreateAccessKey");
        let part = |name: &str| {
            let (_, rest) = key.split_once(&format!("<{name}>")).unwrap();
            rest.split_once('<').unwrap().0.to_owned()
        };
        self.request("POST /moto-api/reset-auth", "Content-Type: text/plain\r\n", b"0");
        (part("AccessKeyId"), part("SecretAccessKey"))
    }
}

#[test]
fn an_object_of_a_store_is_read_with_signed_requests() {
    let Some(moto) = Moto::start() else { return };
    let folder = tempfile::TempDir::new().unwrap();
    let bytes = assetq_sample::bwdb::demo_of(2, 2 << 20);
    std::fs::write(folder.path().join("assets.bin"), &bytes).unwrap();
    moto.request("PUT /builds", "", b"");
    moto.request("PUT /builds/12/new%20assets.bin", "", &bytes);
    let (id, secret) = moto.key();
    let (endpoint, file) = (&*moto.url(), "s3://builds/12/new assets.bin");
    let run = |code, id: &str, secret: &str, file: &str| {
        let env = [("AWS_ENDPOINT_URL", endpoint), ("AWS_ACCESS_KEY_ID", id), ("AWS_SECRET_ACCESS_KEY", secret)];
        run(folder.path(), code, &["ls", "-f", "csv", file], &env)
    };
    assert_eq!(run(0, &id, &secret, file), run(0, "", "", "assets.bin"));
    let wrong = "WRONG/SECRET";
    for (code, id, secret, what) in [
        ("SignatureDoesNotMatch", &*id, wrong, "check AWS_ACCESS_KEY_ID"),
        ("InvalidAccessKeyId", "AKIAWRONG", wrong, "check AWS_ACCESS_KEY_ID"),
        ("403 Forbidden", "", "", "set AWS_ACCESS_KEY_ID"),
    ] {
        let (_, error) = run(4, id, secret, file);
        assert!(error.contains(code) && error.contains(what), "{error}");
        assert!(!error.contains(wrong) && !error.contains("AKIA") && !error.contains("Signature="), "{error}");
    }
    let (_, error) = run(4, &id, &secret, "s3://builds/13");
    assert!(error.contains("has no such file (404 Not Found, NoSuchKey)"), "{error}");
}
