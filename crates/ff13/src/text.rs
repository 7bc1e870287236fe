//! Texts of the games, which may hold bytes that are not UTF-8.

pub(crate) use crate::bytes::shown;

/// The bytes of the shown form `shown`, if it contains escapes.
pub(crate) fn unescaped(shown: &str) -> Option<Vec<u8>> {
    memchr::memchr(b'\\', shown.as_bytes())?;
    let mut parts = shown.split("\\x");
    let mut bytes = parts.next()?.as_bytes().to_vec();
    let mut any = false;
    for part in parts {
        let escape = part.split_at_checked(2).filter(|(digits, _)| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        match escape.and_then(|(digits, rest)| Some((u8::from_str_radix(digits, 16).ok()?, rest))) {
            Some((byte, rest)) => {
                bytes.push(byte);
                bytes.extend_from_slice(rest.as_bytes());
                any = true;
            }
            None => {
                bytes.extend_from_slice(b"\\x");
                bytes.extend_from_slice(part.as_bytes());
            }
        }
    }
    any.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_text_are_escaped_and_come_back() {
        let bytes = b"a\xFFb\x83\x5Cc";
        assert_eq!(shown(bytes), "a\\xffb\\x83\\c");
        assert_eq!(unescaped(&shown(bytes)).unwrap(), bytes);
        assert_eq!(shown("Über".as_bytes()), "Über");
        assert_eq!(unescaped("plain\\xzz"), None);
    }
}
