//! Ids as people write them.

/// An id argument: `0x` and hex digits, 16 hex digits, or a decimal number. `None` for anything else, such as a path.
pub fn parse_id(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with('+'));
    }
    if text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return u64::from_str_radix(text, 16).ok();
    }
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
