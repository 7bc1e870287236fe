//! The common part of every function: converts pointers, and catches panics.

use crate::file::File;
use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An error.
pub struct Failure {
    pub(crate) kind: CString,
    pub(crate) message: CString,
    pub(crate) part: CString,
    pub(crate) offset: Option<u64>,
}

impl Failure {
    /// An error of `file`.
    pub(crate) fn of(file: &str, error: &assetq::Error) -> Self {
        Self {
            kind: c_text(error.kind().name()),
            message: c_text(&format!("{file}: {error}")),
            part: c_text(error.part()),
            offset: error.offset(),
        }
    }

    fn new(kind: &str, message: &str) -> Self {
        Self { kind: c_text(kind), message: c_text(message), part: c_text(""), offset: None }
    }
}

/// The error of a call that files of this format do not support.
pub fn unsupported(what: String) -> Failure {
    Failure::new("unsupported", &format!("{what} is not supported"))
}

fn null(argument: &str) -> Failure {
    Failure::new("argument", &format!("{argument} is NULL"))
}

/// A text for C. NULs are replaced by `␀`, because a NUL ends the text.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{2400}")).expect("each NUL is replaced")
}

/// Returns the result of `ask`, or `otherwise` and an error; a panic is an error, too.
///
/// # Safety
/// `error` is NULL or a place for a pointer.
pub unsafe fn answered<T>(error: *mut *mut Failure, otherwise: T, ask: impl FnOnce() -> Result<T, Failure>) -> T {
    // A panic leaves no file half changed: its caches are stored only when complete.
    let answer = catch_unwind(AssertUnwindSafe(ask));
    let failure = match answer {
        Ok(Ok(answer)) => return answer,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Failure::new("panic", &format!("a fault of the library: {}", said.unwrap_or("no more is known")))
        }
    };
    if !error.is_null() {
        // SAFETY: a place if it is not null, as the caller promises.
        unsafe { error.write(Box::into_raw(Box::new(failure))) };
    }
    otherwise
}

/// Runs a function without a result; a panic ends it silently.
pub fn quietly(run: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(run));
}

/// # Safety
/// `file` is NULL or an open file that remains open for `'a`.
pub unsafe fn file<'a>(file: *const File) -> Result<&'a File, Failure> {
    // SAFETY: as the caller promises.
    unsafe { file.as_ref() }.ok_or_else(|| null("file"))
}

/// # Safety
/// `text` is NULL or leads to bytes that end with a NUL and remain valid for `'a`.
pub unsafe fn text<'a>(text: *const c_char, argument: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(null(argument));
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::new("argument", &format!("{argument} is not UTF-8")))
}

/// # Safety
/// `all` leads to `count` texts, as [`text`] takes them.
pub unsafe fn texts<'a>(all: *const *const c_char, count: usize) -> Result<Vec<&'a str>, Failure> {
    // SAFETY: as the caller promises.
    let all = unsafe { slice(all, count, "columns") }?;
    // SAFETY: as the caller promises.
    all.iter().map(|&one| unsafe { text(one, "a column") }).collect()
}

/// # Safety
/// `data` leads to `size` bytes that remain valid for `'a`.
pub unsafe fn bytes<'a>(data: *const u8, size: usize) -> Result<&'a [u8], Failure> {
    // SAFETY: as the caller promises.
    unsafe { slice(data, size, "data") }
}

/// # Safety
/// `first` leads to `count` values that do not change for `'a`.
pub unsafe fn slice<'a, T>(first: *const T, count: usize, argument: &str) -> Result<&'a [T], Failure> {
    match (first.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(null(argument)),
        // SAFETY: as the caller promises.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(first, count) }),
    }
}

/// An array of C with places for `count` values, which may be uninitialized.
///
/// # Safety
/// `first` leads to places for `count` values, which nothing else uses for `'a`.
pub unsafe fn places<'a, T>(first: *mut T, count: usize, argument: &str) -> Result<&'a mut [MaybeUninit<T>], Failure> {
    match (first.is_null(), count) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(null(argument)),
        // SAFETY: as the caller promises.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts_mut(first.cast(), count) }),
    }
}

/// Writes `value` to `place`, without reading the old value.
///
/// # Safety
/// `place` is NULL or a place for such a value.
pub unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Failure> {
    if place.is_null() {
        return Err(null("out"));
    }
    // SAFETY: as the caller promises.
    unsafe { place.write(value) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    #[test]
    fn a_panic_is_an_error() {
        let mut failure = ptr::null_mut();
        // SAFETY: a place for a pointer.
        let answer = unsafe { answered(&mut failure, 7, || panic!("on purpose")) };
        assert_eq!(answer, 7);
        // SAFETY: just set.
        let failure = unsafe { Box::from_raw(failure) };
        assert_eq!(failure.kind.to_str(), Ok("panic"));
        assert!(failure.message.to_str().is_ok_and(|said| said.ends_with("on purpose")));
        // SAFETY: NULL.
        assert_eq!(unsafe { answered(ptr::null_mut(), 7, || panic!("nobody hears it")) }, 7);
    }

    #[test]
    fn a_text_with_a_nul_keeps_its_rest() {
        assert_eq!(c_text("a\0b").to_str(), Ok("a\u{2400}b"));
    }
}
