//! Small made-up worlds of three games: their files refer to each other, and their names and values explain themselves.

#[cfg(feature = "ff13")]
pub mod ff13;
#[cfg(any(feature = "ff13", feature = "rusty-hearts", feature = "vrage"))]
mod picture;
#[cfg(feature = "rusty-hearts")]
pub mod rusty_hearts;
#[cfg(feature = "vrage")]
pub mod vrage;
