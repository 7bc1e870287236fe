//! Tests of `.geometry` and `.splash`: reading, drawings, and scenes of several files.

mod edit;
mod export;
mod reader;
mod scene;
mod skin;
