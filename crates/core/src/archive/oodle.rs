//! Containers of Oodle blocks (docs/formats/wows.md §5): a header, the packed size of every block, the blocks.

use crate::bytes::View;
use crate::bytes::le::{U32, U64};
use crate::codec::Oodle;
use crate::error::{ErrorKind, Result};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// The decoded size of a block, except the last.
const BLOCK: usize = 256 << 10;

#[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Header {
    /// Bytes from the end of this field to the first block.
    header_size: U64,
    stream_type: U32,
    flags: U32,
    size: U64,
    /// The size of all blocks.
    packed: U64,
    blocks: U32,
    block_size: U32,
    reserved: [U64; 2],
}
const _: () = assert!(size_of::<Header>() == 56);

/// The first `wanted` bytes, rounded up to whole blocks, of the `size` bytes that the container at `at` decodes to.
/// `codec` is absent if the user named no library: a damaged container is reported all the same.
///
/// # Errors
/// `BadValue`, `OutOfBounds`, `Unsupported` without `codec`, and the errors of [`Oodle::decode`].
pub(super) fn decode(at: View<'_>, size: usize, wanted: usize, codec: Option<&Oodle>) -> Result<Vec<u8>> {
    let at = at.part("Oodle container");
    let header: &Header = at.read()?;
    let count = size.div_ceil(BLOCK);
    if header.size.get() != size as u64 {
        let found = header.size.get();
        return Err(at.locate(&header.size).bad_value("decoded size, which the index has otherwise", found));
    }
    if header.block_size.get() as usize != BLOCK {
        let found = header.block_size.get();
        return Err(at.locate(&header.block_size).bad_value("block size, which is 256 KiB", found));
    }
    if header.blocks.get() as usize != count {
        let found = header.blocks.get();
        return Err(at.locate(&header.blocks).bad_value("number of blocks, which does not fit the size", found));
    }
    let list = at.skip(size_of::<Header>());
    let packed_sizes: &[U32] = list.array(count)?;
    let list_end = list.position() + size_of_val(packed_sizes);
    let first = usize::try_from(header.header_size.get()).ok().and_then(|len| len.checked_add(size_of::<U64>()));
    let blocks = first.map(|first| at.skip(first)).filter(|blocks| blocks.position() >= list_end);
    let Some(mut block) = blocks else {
        return Err(at.bad_value("size of the header, which has no room for the sizes", header.header_size.get()));
    };
    let packed = packed_sizes.iter().map(|len| u64::from(len.get())).sum::<u64>();
    if header.packed.get() != packed {
        let found = header.packed.get();
        return Err(at.locate(&header.packed).bad_value("size of all blocks, which is not their sum", found));
    }
    if block.rest().len() as u64 != packed {
        let what = format!("{} bytes follow the header, its blocks have {packed}", block.rest().len()).into();
        return Err(block.error(ErrorKind::Damaged { what }));
    }
    let codec = codec.ok_or_else(|| {
        let what = "the codec oodle, without the game's own library for it (--oodle LIBRARY or $ASSETQ_OODLE; \
                    oo2core_*_win64.dll, liboo2core*.so or liboo2core*.dylib),";
        at.error(ErrorKind::Unsupported { what: what.into() })
    })?;
    let mut out = Vec::new();
    for packed in packed_sizes.iter().take(wanted.div_ceil(BLOCK)) {
        let packed = block.take(packed.get() as usize)?;
        let begin = out.len();
        // Grows with the blocks that decode, not with the size in the file.
        let end = size.min(begin + BLOCK);
        if out.try_reserve(BLOCK).is_err() {
            return Err(block.error(ErrorKind::no_memory(end as u64)));
        }
        out.resize(end, 0);
        let (_, place) = out.split_at_mut(begin);
        codec.decode(packed, place).map_err(|kind| block.error(kind))?;
        block = block.skip(packed.len());
    }
    Ok(out)
}
