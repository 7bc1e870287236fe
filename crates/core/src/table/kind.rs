//! Kinds of values.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Bool,
    Int,
    Uint,
    /// A single-precision float.
    F32,
    /// A double-precision float.
    F64,
    /// A 64-bit id, shown as `0x` and 16 digits.
    Id64,
    /// A 32-bit hash, shown as `0x` and 8 digits.
    Id32,
    /// A GUID, shown in lower case with dashes.
    Guid,
    Text,
    /// A list or a map of further values.
    Nested,
    /// A value with a type of its own.
    Any,
}
