//! The structs of a list (docs/formats/white.md).

use crate::bytes::{View, be, le};
use crate::schema;
use zerocopy::IntoBytes;

/// The tag of an enciphered list, and of one that was: at 20 (§2).
pub const CRYPT_TAG: u32 = 0x1DE0_3478;

/// Bytes of a sector of an image (§5).
pub const SECTOR: u64 = 2048;

schema! {
    /// The header before an enciphered list (§2).
    pub struct CryptHeader: 32 {
        /// Reportedly the MD5 of the plain list; four of its bytes are the key.
        pub seed: [u8; 16],
        /// Bytes of the list, padded to a multiple of 8.
        pub size: be::U32,
        /// [`CRYPT_TAG`].
        pub tag: le::U32,
        _unused: [u8; 8],
    }

    /// The trailer after the list, if it has a [`CryptHeader`].
    pub struct CryptTrailer: 8 {
        /// The same as [`CryptHeader::size`], in the other byte order.
        pub size: le::U32,
        /// The sum of every fourth byte of the list.
        pub checksum: le::U32,
    }

    /// The header of a list (§3).
    pub struct ListHeader: 12 {
        /// The start of the table of chunks. Offsets count from this header.
        pub chunk_info: le::U32,
        /// The start of the chunks.
        pub chunk_data: le::U32,
        /// The number of files.
        pub files: le::U32,
    }

    /// A file (§3.1). The games have two layouts for the last four bytes.
    #[derive(IntoBytes)]
    pub struct ListEntry: 8 {
        /// The number by which the game's scripts know the file.
        pub code: le::U32,
        word: le::U16,
        last: [u8; 2],
    }

    /// A chunk of texts (§3.2).
    pub struct ChunkInfo: 12 {
        /// Bytes of its texts.
        pub size: le::U32,
        /// Bytes of its zlib stream.
        pub stored_size: le::U32,
        /// The start of the stream, counted from the first chunk.
        pub offset: le::U32,
    }
}

impl ListHeader {
    /// The end of the entries, which follow this header.
    pub fn entries_end(&self) -> usize {
        (self.files.get() as usize).saturating_mul(size_of::<ListEntry>()).saturating_add(size_of::<Self>())
    }
}

/// How the entries of a list are laid out (§3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryLayout {
    /// FINAL FANTASY XIII.
    First,
    /// XIII-2 and Lightning Returns.
    Later,
}

impl ListEntry {
    /// An entry of this layout.
    pub fn new(layout: EntryLayout, code: u32, kind: u8, chunk: u16, position: u16) -> Self {
        let (word, last) = match layout {
            EntryLayout::First => (chunk, position.to_le_bytes()),
            EntryLayout::Later => {
                let [low, _] = (chunk >> 1).to_le_bytes();
                (position & 0x7FFF | chunk << 15, [low, kind])
            }
        };
        Self { code: code.into(), word: word.into(), last }
    }

    /// The number of the chunk with its text, and the start of the text in it.
    pub fn text(&self, layout: EntryLayout) -> (usize, usize) {
        let word = self.word.get();
        match (layout, self.last) {
            (EntryLayout::First, position) => (word.into(), u16::from_le_bytes(position).into()),
            (EntryLayout::Later, [chunk, _]) => {
                (usize::from(chunk) << 1 | usize::from(word >> 15), usize::from(word & 0x7FFF))
            }
        }
    }

    /// The position of the number of the chunk and of the position in it; `file` is a view of the file.
    pub fn place<'a>(&'a self, file: View<'a>) -> View<'a> {
        file.locate(&self.word)
    }

    /// The number of its kind, if the layout has one.
    pub fn kind(&self, layout: EntryLayout) -> Option<u8> {
        let [_, kind] = self.last;
        (layout == EntryLayout::Later).then_some(kind)
    }
}
