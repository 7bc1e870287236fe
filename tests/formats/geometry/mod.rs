//! Tests of `.geometry` and `.splash`: reading, drawings, and scenes of several files.

#[cfg(feature = "edit")]
mod edit;
#[cfg(feature = "export")]
mod export;
mod reader;
#[cfg(feature = "export")]
mod scene;
#[cfg(all(feature = "export", feature = "mfm"))]
mod skin;
