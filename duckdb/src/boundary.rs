//! The common part of every callback: catches panics, converts texts, owns the objects of DuckDB.

use crate::api::{Handle, api};
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a callback. A panic is an error.
pub fn caught<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // A panic leaves no file half changed: its caches are stored only when complete.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(format!("a fault of assetq: {}", said.unwrap_or("no more is known")))
    })
}

/// A text for C. NULs are replaced by `␀`, because a NUL ends the text.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{2400}")).expect("each NUL is replaced")
}

/// Runs a callback, and passes its error to `set_error`.
///
/// # Safety
/// `info` is an object of DuckDB that `set_error` takes.
pub unsafe fn run(
    info: Handle,
    set_error: unsafe extern "C" fn(Handle, *const c_char),
    callback: impl FnOnce() -> Result<(), String>,
) {
    if let Err(error) = caught(callback) {
        // SAFETY: as the caller promises. DuckDB copies the text.
        unsafe { set_error(info, c_text(&error).as_ptr()) };
    }
}

/// Frees a value of the type `T` that [`give`] gave to DuckDB.
///
/// # Safety
/// `data` is from `give::<T>`, and is not used afterwards.
pub unsafe extern "C" fn free<T>(data: Handle) {
    // SAFETY: as the caller promises.
    let value = unsafe { Box::from_raw(data.cast::<T>()) };
    let _ = caught(|| {
        drop(value);
        Ok(())
    });
}

/// Gives a value to DuckDB, which frees it by [`free`].
pub fn give<T>(value: T) -> Handle {
    Box::into_raw(Box::new(value)).cast()
}

/// The text at `text`, in which a part that is not UTF-8 is replaced.
///
/// # Safety
/// `text` is null or leads to a text that ends with a NUL.
pub unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: as the caller promises.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// A value of DuckDB: an argument of a function.
pub struct Argument(Handle);

impl Argument {
    /// Takes a value; `None` for an absent or null one.
    ///
    /// # Safety
    /// `value` is null or a value of DuckDB that the caller owns.
    pub unsafe fn new(value: Handle) -> Option<Self> {
        // SAFETY: as the caller promises.
        (!value.is_null()).then_some(Self(value)).filter(|value| !unsafe { (api().is_null_value)(value.0) })
    }

    /// The items of a list, less those that are null.
    pub fn items(&self) -> Vec<Self> {
        // SAFETY: a list of DuckDB, whose items the caller owns.
        unsafe {
            let count = (api().get_list_size)(self.0);
            (0..count).filter_map(|at| Self::new((api().get_list_child)(self.0, at))).collect()
        }
    }

    /// The value as a text.
    pub fn text(&self) -> String {
        // SAFETY: DuckDB returns a text that the caller frees, or null.
        unsafe {
            let raw = (api().get_varchar)(self.0);
            let text = text(raw);
            (api().free)(raw.cast());
            text.unwrap_or_default()
        }
    }

    /// The value as a truth value.
    pub fn truth(&self) -> bool {
        // SAFETY: a value of DuckDB.
        unsafe { (api().get_bool)(self.0) }
    }
}

impl Drop for Argument {
    fn drop(&mut self) {
        // SAFETY: the value is owned, and this is its last use.
        unsafe { (api().destroy_value)(&mut self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let error = caught(|| -> Result<(), String> { panic!("on {}", "purpose") });
        assert_eq!(error, Err("a fault of assetq: on purpose".to_owned()));
        assert_eq!(caught(|| Ok(7)), Ok(7));
    }

    #[test]
    fn a_text_with_a_nul_keeps_its_rest() {
        assert_eq!(c_text("a\0b").to_str(), Ok("a\u{2400}b"));
    }
}
