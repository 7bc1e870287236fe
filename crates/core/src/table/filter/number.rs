//! Numbers as conditions write them.

use std::cmp::Ordering;

/// A literal number: whole if possible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    /// Compares a whole number with this one, exactly.
    pub(super) fn order_of(self, whole: i128) -> Option<Ordering> {
        match self {
            Self::Int(number) => Some(whole.cmp(&number)),
            Self::Float(number) if number.is_nan() => None,
            Self::Float(number) => {
                // Saturates, far outside of cells of 64 bits.
                #[expect(clippy::cast_possible_truncation, reason = "the fraction is compared separately")]
                let truncated = number.trunc() as i128;
                Some(whole.cmp(&truncated).then_with(|| 0f64.total_cmp(&(number - number.trunc()))))
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a float cell is compared in its own precision")]
    pub(super) fn double(self) -> f64 {
        match self {
            Self::Int(number) => number as f64,
            Self::Float(number) => number,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a float cell is compared in its own precision")]
    pub(super) fn single(self) -> f32 {
        self.double() as f32
    }
}

/// A number: whole, hexadecimal or with a fraction, and perhaps thousands, millions or thousand millions of it.
pub(super) fn number(text: &str) -> Option<Number> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let first = digits.bytes().next()?;
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        let valid = hex.bytes().all(|b| b.is_ascii_hexdigit());
        let value = valid.then(|| u64::from_str_radix(hex, 16).ok()).flatten()?;
        return Some(Number::Int(i128::from(value).checked_mul(sign)?));
    }
    // Also keeps out words that Rust reads as floats: inf, nan.
    if !(first.is_ascii_digit() || first == b'.') {
        return None;
    }
    let factor: i128 = match digits.bytes().last() {
        Some(b'k' | b'K') => 1000,
        Some(b'M') => 1_000_000,
        Some(b'G') => 1_000_000_000,
        _ => 1,
    };
    let digits = if factor == 1 { digits } else { digits.get(..digits.len().checked_sub(1)?)? };
    if let Ok(whole) = digits.parse::<u64>() {
        return Some(Number::Int(i128::from(whole).checked_mul(factor)?.checked_mul(sign)?));
    }
    // 1.5k is a whole number: the factor moves the point.
    if let Some((whole, fraction)) = digits.split_once('.')
        && let Some(moved) = moved_point(whole, fraction, factor)
    {
        return Some(Number::Int(moved.checked_mul(sign)?));
    }
    #[expect(clippy::cast_precision_loss, reason = "a factor is exact as a float")]
    let value = digits.parse::<f64>().ok()? * (factor as f64) * (sign as f64);
    Some(Number::Float(value))
}

/// `whole.fraction` times `factor`, if the product is a whole number and `factor` moves the point.
fn moved_point(whole: &str, fraction: &str, factor: i128) -> Option<i128> {
    let places = factor.checked_ilog10()? as usize;
    if factor == 1 || fraction.len() > places || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let padded = format!("{whole}{fraction:0<places$}");
    padded.parse::<u64>().ok().map(i128::from)
}
