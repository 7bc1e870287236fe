//! Files and folders of Space Engineers 2.

pub mod se2;
pub mod vrb;
