//! Pages: one HTML file that any browser opens, without a server and without a network.
//!
//! A *page* is its shell (the markup, the styles and the scripts, the same for every file), *blocks* of bytes, and
//! *parts*: the things to look at, each shown by the script for its kind. The scripts are `main.js`, which opens parts
//! and goes from one to another, `blocks.js`, which decodes blocks when they are first asked for, and a file for each
//! kind.
//!
//! Scripts and styles are deflated, without their comments: a third of what they take as they are. A small script, the loader,
//! inflates them. A page without shapes lacks the scripts that draw them, half of all.
//!
//! Texts of a file reach the page as data, in blocks and in JSON, and its scripts show them as text. The policy of the page
//! allows the scripts and the styles that it is written with, by their hashes, and nothing from elsewhere.

mod column;
mod ids;
pub mod image;
pub mod scene;
pub mod tables;
pub mod tree;

pub use column::{TextColumn, numbers};

use crate::error::Result;
use crate::escape::{Xml, escape, script_json};
use crate::threads::prelude::*;
use crate::write::cannot_write;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compress, Compression, FlushCompress, Status};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::io::{self, Write};
use std::sync::LazyLock;

/// The layout, with places for the rest.
const SHELL: &str = include_str!("shell.html");
/// Inflates and runs the rest.
const LOADER: &str = include_str!("loader.js");
/// The style until the others are inflated.
const FIRST_STYLE: &str = ":root { color-scheme: light dark } header, nav { visibility: hidden }";
/// A script in a scope of its own.
macro_rules! script {
    ($file:literal) => {
        concat!("{\n", include_str!($file), "}\n")
    };
}
const STYLE: &str = include_str!("style.css");
/// The scripts of all pages, in the order in which they use each other. They share the properties that they put into `assetq`.
const SCRIPT: &str = concat!(
    script!("element.js"),
    script!("main.js"),
    script!("about.js"),
    script!("blocks.js"),
    script!("column.js"),
    script!("rows.js"),
    script!("sift.js"),
    script!("cells.js"),
    script!("table.js"),
    script!("branches.js"),
    script!("graph.js"),
    script!("tree.js"),
    script!("folders.js"),
    script!("diff.js"),
    script!("image.js")
);
const SHAPE_STYLE: &str = include_str!("scene.css");
/// The scripts of parts that draw shapes, which follow the others.
const SHAPE_SCRIPT: &str = concat!(
    script!("camera.js"),
    script!("solid.js"),
    script!("gl.js"),
    script!("look.js"),
    script!("space.js"),
    script!("scene/joints.js"),
    script!("scene/contents.js"),
    script!("scene/state.js"),
    script!("scene/armour.js"),
    script!("scene/chosen.js"),
    script!("scene/compare.js"),
    script!("scene/zones.js"),
    script!("scene/lists.js"),
    script!("scene/placed.js"),
    script!("scene/ruler.js"),
    script!("scene/scene.js"),
    script!("map.js")
);
const SHAPE_KINDS: [&str; 2] = ["scene", "map"];

struct Code {
    style: String,
    script: String,
}

static TABLE_CODE: LazyLock<Code> =
    LazyLock::new(|| Code { style: without_comments(STYLE), script: without_comments(SCRIPT) });
static WHOLE_CODE: LazyLock<Code> = LazyLock::new(|| {
    let Code { style, script } = &*TABLE_CODE;
    Code {
        style: format!("{style}{}", without_comments(SHAPE_STYLE)),
        script: format!("{script}{}", without_comments(SHAPE_SCRIPT)),
    }
});

impl Code {
    /// Both, deflated, in base64.
    fn block(&self) -> Result<String> {
        let mut deflated = Vec::new();
        let both = format!("{}\0{}", self.style, self.script);
        deflate(both.as_bytes(), Compression::best(), true, &mut deflated).map_err(cannot_write)?;
        Ok(STANDARD.encode(deflated))
    }
}

/// A style or a script without indentation, comment lines and types. Its only texts of several lines are shaders, whose comments and
/// spaces mean as little. A type is a comment `/** @… */` within a line.
fn without_comments(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    let mut all = String::with_capacity(text.len());
    for mut line in lines {
        while let Some((before, (_, rest))) =
            line.split_once("/** @").and_then(|(b, rest)| Some((b, rest.split_once("*/")?)))
        {
            all.push_str(before);
            line = rest.trim_start();
        }
        if !line.is_empty() {
            all.extend([line, "\n"]);
        }
    }
    all
}

/// Bytes that are deflated at once: several threads share a larger block.
const STRETCH: usize = 1 << 18;
/// Blocks are large, and a page is to be written while someone waits.
const LEVEL: Compression = Compression::new(2);
/// Texts get a third larger so, in half the time.
const TEXTS: Compression = Compression::fast();

/// Something to look at.
#[derive(Debug)]
pub struct PageSection {
    /// The name by which links lead to it: `table=models`.
    pub id: String,
    /// The script that shows it.
    pub kind: &'static str,
    /// The title that people read.
    pub title: String,
    /// The data that its script is given.
    pub meta: Value,
}

/// Bytes as a page has them: deflated, in base64.
#[derive(Debug)]
pub struct Block(String);

impl Block {
    /// Compresses `bytes`, long ones on several threads.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        Self::at(LEVEL, bytes)
    }

    /// Compresses texts, at the quicker level for them.
    pub fn of_texts(bytes: &[u8]) -> Result<Self> {
        Self::at(TEXTS, bytes)
    }

    fn at(level: Compression, bytes: &[u8]) -> Result<Self> {
        let stretches: Vec<&[u8]> = bytes.chunks(STRETCH).collect();
        let deflated = if stretches.len() < 2 {
            compress(bytes, level, true)
        } else {
            let last = stretches.len() - 1;
            let deflated = stretches.par_iter().enumerate().map(|(n, stretch)| compress(stretch, level, n == last));
            deflated.collect::<io::Result<Vec<_>>>().map(|all| all.concat())
        };
        Ok(Self(STANDARD.encode(deflated.map_err(cannot_write)?)))
    }
}

/// A stretch of a deflate stream, which ends at a whole byte, so that the next one can follow. Noise is stored as it is:
/// a search for repetitions costs the most in bytes without any.
fn compress(bytes: &[u8], level: Compression, last: bool) -> io::Result<Vec<u8>> {
    let pieces: Vec<bool> = bytes.chunks(PIECE).map(is_noise).collect();
    let (mut out, mut rest) = (Vec::with_capacity(bytes.len() / 2 + 64), bytes);
    for alike in pieces.chunk_by(|a, b| a == b) {
        let (now, behind) = rest.split_at((alike.len() * PIECE).min(rest.len()));
        let level = if alike[0] { Compression::none() } else { level };
        deflate(now, level, last && behind.is_empty(), &mut out)?;
        rest = behind;
    }
    if bytes.is_empty() {
        deflate(bytes, level, last, &mut out)?;
    }
    Ok(out)
}

/// The size of a piece that is tested for noise at once.
const PIECE: usize = 1 << 15;

/// Whether deflate would not shrink `piece`: its bytes are all about equally frequent, and no four of them in a row
/// recur soon. Both are estimated from a sample.
fn is_noise(piece: &[u8]) -> bool {
    const SAMPLE: usize = 1 << 12;
    /// A prime, so that numbers of any width show all of their bytes.
    const STEP: usize = 7;
    let mut counts = [0u64; 256];
    for &byte in piece.iter().step_by(STEP).take(SAMPLE) {
        counts[usize::from(byte)] += 1;
    }
    // Where bytes are as frequent as in noise, two of the sample are the same as often, give or take a twentieth.
    let (all, same) = (SAMPLE as u64, counts.iter().map(|count| count * count).sum::<u64>());
    let usual = all + all * all / 256;
    if piece.len() < SAMPLE * STEP || same > usual + usual / 20 {
        return false;
    }
    let mut seen = vec![0u32; SAMPLE];
    let mut fours = piece.array_windows().take(SAMPLE).map(|four| u32::from_le_bytes(*four));
    !fours.any(|four| std::mem::replace(&mut seen[(four.wrapping_mul(0x9E37_79B1) >> 20) as usize], four) == four)
}

/// Appends `bytes` to a deflate stream, up to a whole byte, so that more can follow.
fn deflate(bytes: &[u8], level: Compression, last: bool, out: &mut Vec<u8>) -> io::Result<()> {
    let mut compress = Compress::new(level, false);
    let flush = if last { FlushCompress::Finish } else { FlushCompress::Sync };
    loop {
        let done = usize::try_from(compress.total_in()).expect("no more than all bytes");
        let status = compress.compress_vec(&bytes[done..], out, flush)?;
        // Output that did not fit comes with the next call; a flush is over once there is room left.
        match status {
            Status::StreamEnd => return Ok(()),
            _ if !last && out.len() < out.capacity() => return Ok(()),
            _ => out.reserve(bytes.len() / 4 + 64),
        }
    }
}

/// A page that is being written.
pub struct Page<'w> {
    out: &'w mut dyn Write,
    /// The part of the shell after the blocks.
    rest: &'static str,
    parts: Vec<Value>,
    facts: Map<String, Value>,
}

impl std::fmt::Debug for Page<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page").field("parts", &self.parts.len()).finish_non_exhaustive()
    }
}

impl<'w> Page<'w> {
    /// Begins a page that is called `title`; `about` is a line that says more.
    pub fn new(out: &'w mut dyn Write, title: &str, about: &str) -> Result<Self> {
        let (head, rest) = SHELL.split_once("{{blocks}}").expect("the shell has a place for blocks");
        let (title, about) = (escape(title), escape(about));
        for piece in head.split("}}") {
            let (text, name) = piece.split_once("{{").unwrap_or((piece, "end"));
            out.write_all(text.as_bytes()).map_err(cannot_write)?;
            match name {
                "policy" => write!(out, "{}", policy()),
                "title" => write!(out, "{}", Xml(&title)),
                "about" => write!(out, "{}", Xml(&about)),
                "first" => out.write_all(FIRST_STYLE.as_bytes()),
                "loader" => out.write_all(LOADER.as_bytes()),
                _ => Ok(()),
            }
            .map_err(cannot_write)?;
        }
        Ok(Self { out, rest, parts: Vec::new(), facts: Map::new() })
    }

    /// Writes `bytes` under a name that no other block of the page has, of letters, digits, `-`, `.` and `_`.
    pub fn block(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.add(name, &Block::new(bytes)?)
    }

    /// As [`Page::block`], of a block that is compressed already.
    pub fn add(&mut self, name: &str, block: &Block) -> Result<()> {
        let begin = format!("<script type=\"application/octet-stream\" id=\"b:{}\">", Xml(name));
        [&begin, &block.0, "</script>\n"]
            .iter()
            .try_for_each(|text| self.out.write_all(text.as_bytes()))
            .map_err(cannot_write)
    }

    fn add_all(&mut self, blocks: Vec<Result<(String, Block)>>) -> Result<()> {
        blocks.into_iter().try_for_each(|block| block.and_then(|(name, block)| self.add(&name, &block)))
    }

    /// Adds a part after the earlier parts. The first one is shown first.
    pub fn part(&mut self, part: PageSection) {
        let PageSection { id, kind, title, meta } = part;
        self.parts.push(json!({ "id": id, "kind": kind, "title": title, "meta": meta }));
    }

    /// Adds a fact about the page, which scripts read as `page.facts.NAME`.
    pub fn fact(&mut self, name: &str, value: Value) {
        self.facts.insert(name.to_owned(), value);
    }

    /// Ends the page.
    pub fn finish(self) -> Result<()> {
        let Self { out, rest, parts, facts } = self;
        let (before, behind) = rest.split_once("{{parts}}").expect("the shell has a place for parts");
        let (first, between) = before.split_once("{{code}}").expect("the shell has a place for scripts");
        let draws = parts.iter().any(|part| SHAPE_KINDS.iter().any(|kind| part["kind"] == *kind));
        let code = if draws { WHOLE_CODE.block() } else { TABLE_CODE.block() }?;
        // No text of a file can end the element.
        let parts = script_json(&json!({ "parts": parts, "facts": facts }).to_string());
        [first, &code, between, &parts, behind]
            .iter()
            .try_for_each(|text| out.write_all(text.as_bytes()))
            .map_err(cannot_write)
    }
}

/// Nothing is loaded or sent, and nothing is run but the page's own scripts, wherever the page is opened.
fn policy() -> String {
    // The policy precedes the parts, which decide between the two.
    let (tables, whole) = (&*TABLE_CODE, &*WHOLE_CODE);
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data: blob:; base-uri 'none'; form-action 'none'",
        hashes([LOADER, &tables.script, &whole.script]),
        hashes([FIRST_STYLE, &tables.style, &whole.style])
    )
}

fn hashes(texts: [&str; 3]) -> String {
    texts.map(|text| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))).join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn the_shell_is_small_and_cannot_be_left() {
        let sizes = [&*TABLE_CODE, &*WHOLE_CODE].map(|code| SHELL.len() + LOADER.len() + code.block().unwrap().len());
        assert!(sizes[0] < 87_000 && sizes[1] < 130_000, "{sizes:?}");
        let (script, style) = ([SCRIPT, SHAPE_SCRIPT].concat(), [STYLE, SHAPE_STYLE].concat());
        assert!(!script.contains("</script") && !script.contains("<!--") && !style.contains("</style"));
        let short = &WHOLE_CODE.script;
        assert!(short.len() < script.len() * 9 / 10 && !short.contains("\n//") && !script.contains('\0'));
        for dangerous in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http:", "https:"]
        {
            assert!(!script.contains(dangerous), "{dangerous}");
        }
    }

    #[test]
    fn a_block_of_any_length_is_one_deflate_stream() {
        for len in [0, 1, STRETCH - 1, STRETCH, STRETCH + 1, 3 * STRETCH, 3 * STRETCH + 7] {
            // Bytes that hardly get fewer, so that each stretch is long.
            let bytes: Vec<u8> = (0..len as u32).map(|n| (n.wrapping_mul(0x9E37_79B1) >> 24) as u8).collect();
            let Block(text) = Block::new(&bytes).unwrap();
            let deflated = STANDARD.decode(text).unwrap();
            let mut decoder = flate2::bufread::DeflateDecoder::new(&*deflated);
            let mut decoded = Vec::new();
            decoder.read_to_end(&mut decoded).unwrap();
            assert!(decoded == bytes && decoder.into_inner().is_empty(), "{len}");
        }
    }

    #[test]
    fn noise_is_stored_as_it_is_and_all_else_is_deflated() {
        let mut rng = fastrand::Rng::with_seed(7);
        let noise: Vec<u8> = std::iter::repeat_with(|| rng.u8(..)).take(2 * PIECE).collect();
        let (few, short) = (noise.iter().map(|byte| byte / 2).collect::<Vec<_>>(), noise[..9].repeat(PIECE / 9));
        let counted: Vec<u8> = (0..PIECE).map(|n| n as u8).collect();
        assert!(noise.chunks(PIECE).all(is_noise));
        assert!(![&few[..PIECE], &short, &counted, &noise[..99]].into_iter().any(is_noise));
        let mixed = [&*counted, &noise, &counted, &few].concat();
        let deflated = STANDARD.decode(Block::new(&mixed).unwrap().0).unwrap();
        let mut decoded = Vec::new();
        flate2::bufread::DeflateDecoder::new(&*deflated).read_to_end(&mut decoded).unwrap();
        assert!(decoded == mixed && deflated.len() < 4 * PIECE, "{}", deflated.len());
    }

    #[test]
    fn texts_stay_in_their_place() {
        let mut out = Vec::new();
        let mut page = Page::new(&mut out, "</title><script>", "<b>\u{202e}").unwrap();
        page.block("a", b"bytes").unwrap();
        page.part(PageSection { id: "p".into(), kind: "table", title: "</script><!--".into(), meta: Value::Null });
        page.finish().unwrap();
        let page = String::from_utf8(out).unwrap();
        assert!(page.contains("<title>&lt;/title&gt;&lt;script&gt;</title>") && page.contains("&lt;b&gt;\\u{202e}"));
        assert!(page.contains(r#""title":"\u003c/script>\u003c!--""#) && !page.contains("{{"));
        assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
    }
}
