//! Signatures of requests to stores that speak the protocol of S3: AWS Signature Version 4, in headers.

use crate::bytes::hexadecimal;
use crate::dates::rfc3339;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::fmt::Write as _;
use std::time::SystemTime;

/// The key of a store. Its debug output has no part of the key.
pub(super) struct Credentials {
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) token: Option<String>,
    pub(super) region: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("region", &self.region).finish_non_exhaustive()
    }
}

/// The digest of an empty body, as all requests here have.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

impl Credentials {
    /// The headers that sign a GET of `path`, which is percent-encoded, at `host` with this `Range` header.
    pub(super) fn headers(&self, host: &str, path: &str, range: &str, now: SystemTime) -> Vec<(&'static str, String)> {
        let time: String = rfc3339(now).chars().filter(|c| !matches!(c, '-' | ':')).collect();
        let (date, _) = time.split_at("20261123".len());
        let mut signed = vec![("host", host), ("range", range), ("x-amz-content-sha256", EMPTY), ("x-amz-date", &time)];
        signed.extend(self.token.as_deref().map(|token| ("x-amz-security-token", token)));
        let names = signed.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
        let mut request = format!("GET\n{path}\n\n");
        for (name, value) in &signed {
            let _ = writeln!(request, "{name}:{value}");
        }
        let _ = write!(request, "\n{names}\n{EMPTY}");
        let scope = format!("{date}/{}/s3/aws4_request", self.region);
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hexadecimal(&Sha256::digest(request)));
        let key = [date, &self.region, "s3", "aws4_request"]
            .into_iter()
            .fold(format!("AWS4{}", self.secret).into_bytes(), |key, part| mac(&key, part));
        let signature = hexadecimal(&mac(&key, &text));
        let authorization =
            format!("AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders={names},Signature={signature}", self.id);
        // The range is sent anyway.
        let mut headers: Vec<_> = signed
            .iter()
            .filter(|(name, _)| *name != "range")
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        headers.push(("authorization", authorization));
        headers
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("keys of any length are valid");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    /// The example "GET Object" of the documentation of S3, "Authenticating Requests: Using the Authorization Header".
    #[test]
    fn the_signature_is_that_of_the_published_example() {
        let credentials = Credentials {
            id: "AKIAIOSFODNN7EXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            token: None,
            region: "us-east-1".into(),
        };
        let at = UNIX_EPOCH + Duration::from_secs(1_369_353_600);
        let headers = credentials.headers("examplebucket.s3.amazonaws.com", "/test.txt", "bytes=0-9", at);
        let (_, authorization) = headers.last().unwrap();
        assert_eq!(
            authorization,
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
             SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,\
             Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        assert!(!format!("{credentials:?}").contains("EXAMPLE"));
    }
}
