//! Values made on first use.

use std::sync::OnceLock;

/// A value made on first use and kept, where making it may fail. A failure is not kept: the next call tries again.
#[derive(Debug)]
pub struct Lazy<T>(OnceLock<T>);

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Lazy<T> {
    /// The value, made by `make` on first use. Two threads may make it at once; the first one done is kept.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn get_or_try_init<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if let Some(value) = self.0.get() {
            return Ok(value);
        }
        let value = make()?;
        Ok(self.0.get_or_init(|| value))
    }

    /// The value, made by `make` on first use.
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(make)
    }

    /// The value, if it has been made.
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_tried_again() {
        let lazy = Lazy::default();
        assert_eq!(lazy.get_or_try_init(|| Err("no")), Err("no"));
        assert_eq!(lazy.get_or_try_init(|| Ok::<_, ()>(7)), Ok(&7));
        assert_eq!(lazy.get_or_try_init(|| Ok::<_, ()>(8)), Ok(&7));
    }
}
