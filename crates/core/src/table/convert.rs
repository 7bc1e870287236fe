//! Values as the types of a program.

use super::{Guid, Value};
use crate::error::Error;
use std::borrow::Cow;

#[cold]
fn no(wanted: &str, value: &Value<'_>) -> Error {
    Error::syntax(format!("{} is no {wanted}", crate::writable::short(value)))
}

/// A conversion, and the same one in which null is `None`.
macro_rules! conversions {
    ($($to:ty, $named:literal: $value:ident => $converted:expr;)+) => {$(
        impl<'a> TryFrom<Value<'a>> for $to {
            type Error = Error;

            fn try_from($value: Value<'a>) -> Result<Self, Error> {
                let converted: Option<Self> = $converted;
                converted.ok_or_else(|| no($named, &$value))
            }
        }

        impl<'a> TryFrom<Value<'a>> for Option<$to> {
            type Error = Error;

            fn try_from(value: Value<'a>) -> Result<Self, Error> {
                if value.is_null() { Ok(None) } else { <$to>::try_from(value).map(Some) }
            }
        }
    )+};
}

/// A whole number that fits.
fn whole<T: TryFrom<u64> + TryFrom<i64>>(value: &Value<'_>) -> Option<T> {
    match *value {
        Value::Int(number) => number.try_into().ok(),
        Value::Uint(number) | Value::Id64(number) => number.try_into().ok(),
        Value::Id32(number) => u64::from(number).try_into().ok(),
        _ => None,
    }
}

/// A float, or a whole number that a float has exactly.
fn float(value: &Value<'_>) -> Option<f64> {
    /// The first whole number after which some are missing.
    const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
    match *value {
        Value::F32(number) => Some(number.into()),
        Value::F64(number) => Some(number),
        Value::Int(number) if number.unsigned_abs() <= EXACT => Some(number as f64),
        Value::Uint(number) if number <= EXACT => Some(number as f64),
        _ => None,
    }
}

conversions! {
    u8, "whole number of 8 bits": value => whole(&value);
    u16, "whole number of 16 bits": value => whole(&value);
    u32, "whole number of 32 bits": value => whole(&value);
    u64, "whole number of 64 bits": value => whole(&value);
    usize, "whole number of the machine": value => whole(&value);
    i8, "signed number of 8 bits": value => whole(&value);
    i16, "signed number of 16 bits": value => whole(&value);
    i32, "signed number of 32 bits": value => whole(&value);
    i64, "signed number of 64 bits": value => whole(&value);
    f32, "single-precision number": value => match value { Value::F32(number) => Some(number), _ => None };
    f64, "number": value => float(&value);
    bool, "truth": value => match value { Value::Bool(truth) => Some(truth), _ => None };
    Guid, "GUID": value => match value { Value::Guid(guid) => Some(guid), _ => None };
    String, "text": value => value.as_text().map(Cow::into_owned);
}

impl<'a> TryFrom<Value<'a>> for Cow<'a, str> {
    type Error = Error;

    fn try_from(value: Value<'a>) -> Result<Self, Error> {
        match value {
            Value::Text(text) => Ok(text),
            Value::Utf16(text) => Ok(text.to_string().into()),
            other => Err(no("text", &other)),
        }
    }
}

impl<'a> TryFrom<Value<'a>> for Option<Cow<'a, str>> {
    type Error = Error;

    fn try_from(value: Value<'a>) -> Result<Self, Error> {
        if value.is_null() { Ok(None) } else { Cow::try_from(value).map(Some) }
    }
}

impl<'a, T: TryFrom<Value<'a>, Error = Error>> TryFrom<Value<'a>> for Vec<T> {
    type Error = Error;

    fn try_from(value: Value<'a>) -> Result<Self, Error> {
        match value {
            Value::List(values) => values.into_iter().map(T::try_from).collect(),
            other => Err(no("list", &other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_becomes_the_types_that_hold_it() {
        assert_eq!(u64::try_from(Value::Uint(u64::MAX)).unwrap(), u64::MAX);
        assert_eq!((u8::try_from(Value::Int(255)).unwrap(), i8::try_from(Value::Uint(127)).unwrap()), (255, 127));
        assert_eq!(u64::try_from(Value::Id32(7)).unwrap(), 7);
        assert_eq!(f64::try_from(Value::Int(-3)).unwrap(), -3.0);
        assert_eq!(f64::try_from(Value::Uint(1 << 53)).unwrap(), 9_007_199_254_740_992.0);
        assert_eq!(Option::<u64>::try_from(Value::Null).unwrap(), None);
        assert_eq!(Vec::<f32>::try_from(Value::floats([1.0, 0.5])).unwrap(), [1.0, 0.5]);
        assert_eq!(Cow::try_from(Value::text("bow")).unwrap(), "bow");
        assert_eq!(String::try_from(Value::text("bow")).unwrap(), "bow");
        assert_eq!((f64::try_from(Value::F32(0.5)).unwrap(), f64::try_from(Value::F64(0.1)).unwrap()), (0.5, 0.1));
        let units: Vec<crate::bytes::le::U16> = "bow".encode_utf16().map(Into::into).collect();
        let utf16 = Value::Utf16(crate::bytes::Utf16::new(&units));
        assert_eq!(Option::<Cow<'_, str>>::try_from(utf16).unwrap().unwrap(), "bow");
        assert_eq!(Option::<Cow<'_, str>>::try_from(Value::Null).unwrap(), None);
    }

    #[test]
    fn a_value_that_does_not_fit_is_an_error_with_the_value() {
        let said = |error: Error| error.to_string();
        assert_eq!(said(u8::try_from(Value::Int(256)).unwrap_err()), "256 is no whole number of 8 bits");
        assert_eq!(said(u64::try_from(Value::Int(-1)).unwrap_err()), "-1 is no whole number of 64 bits");
        // The first whole number that a float does not have.
        assert_eq!(said(f64::try_from(Value::Uint((1 << 53) + 1)).unwrap_err()), "9007199254740993 is no number");
        assert_eq!(said(f64::try_from(Value::Int(-(1 << 53) - 1)).unwrap_err()), "-9007199254740993 is no number");
        assert!(said(u64::try_from(Value::text("bow")).unwrap_err()).contains("bow"));
        assert_eq!(said(u64::try_from(Value::Null).unwrap_err()), "null is no whole number of 64 bits");
        assert_eq!(said(Cow::try_from(Value::Int(5)).unwrap_err()), "5 is no text");
        assert_eq!(said(Vec::<f32>::try_from(Value::Int(5)).unwrap_err()), "5 is no list");
    }
}
