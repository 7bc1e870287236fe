//! Vertex and index buffers: raw ones borrowed, packed ones decoded.

use super::encd::{self, Encd};
use super::layout::{IndicesPrototype, Mapping, VerticesPrototype};
use super::vertex::{VertexFormat, Vertices};
use super::{Geometry, data, string_bytes};
use crate::bytes::{View, le};
use crate::codec::Memory;
use crate::error::{Error, ErrorKind, Result};
use crate::packed_string::PackedString;
use crate::threads::prelude::*;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A merged buffer of vertices or of indices, as `P` describes it.
#[derive(Debug, Clone, Copy)]
pub struct Buffer<'a, P> {
    index: usize,
    prototype: &'a P,
    at: View<'a>,
}

/// A merged vertex buffer.
pub type VertexBuffer<'a> = Buffer<'a, VerticesPrototype>;

/// A merged index buffer: triangles, each index relative to the vertices of its mapping.
pub type IndexBuffer<'a> = Buffer<'a, IndicesPrototype>;

/// A struct that describes a buffer.
pub trait BufferPrototype {
    /// The kind of buffer, as errors name it.
    const NAME: &'static str;
    /// The pointer to the stored bytes, relative to the struct, and how many they are.
    fn stored(&self) -> (i64, u32);
}

impl BufferPrototype for VerticesPrototype {
    const NAME: &'static str = "vertex buffer";
    fn stored(&self) -> (i64, u32) {
        (self.vertices_data.get(), self.size_in_bytes.get())
    }
}

impl BufferPrototype for IndicesPrototype {
    const NAME: &'static str = "index buffer";
    fn stored(&self) -> (i64, u32) {
        (self.indices_data.get(), self.size_in_bytes.get())
    }
}

impl<'a, P: BufferPrototype> Buffer<'a, P> {
    /// `at` is any view of the file.
    pub(super) fn new(index: usize, prototype: &'a P, at: View<'a>) -> Self {
        Self { index, prototype, at: at.locate(prototype) }
    }

    /// The buffer's number.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The position of the buffer's struct.
    pub(super) fn view(&self) -> View<'a> {
        self.at
    }

    /// The buffer's struct.
    pub fn prototype(&self) -> &'a P {
        self.prototype
    }

    /// The bytes that the file stores, packed or not.
    ///
    /// # Errors
    /// When they are not in the file after its header.
    pub fn stored(&self) -> Result<&'a [u8]> {
        let (pointer, size) = self.prototype.stored();
        if size == 0 {
            return Ok(&[]);
        }
        let stored = data(self.at, pointer, size as usize).and_then(|stored| stored.take(size as usize));
        stored.map_err(|e| self.named(e))
    }

    /// The absolute file offset of the stored bytes.
    pub fn offset(&self) -> Result<u64> {
        Ok(self.at.locate(self.stored()?).offset())
    }

    /// The packed blob, if it is packed.
    pub fn encoded(&self) -> Result<Option<Encd<'a>>> {
        Ok(Encd::parse(self.stored()?))
    }

    fn named(&self, error: Error) -> Error {
        error.context(format_args!("{} {}", P::NAME, self.index))
    }

    fn bad(&self, what: &'static str, value: impl Into<i128>) -> Error {
        self.named(self.at.bad_value(what, value))
    }

    fn codec(&self, encd: Encd<'_>, kind: ErrorKind) -> Error {
        self.named(self.at.locate(encd.payload).error(kind))
    }
}

impl<'a> VertexBuffer<'a> {
    fn name_view(&self) -> View<'a> {
        self.at.part("format name").locate(&self.prototype.format_name)
    }

    pub(super) fn name_bytes(&self) -> Result<&'a [u8]> {
        string_bytes(&self.prototype.format_name, self.name_view())
    }

    /// The name of its vertex format, as in `set3/xyznuvtbpc`.
    ///
    /// # Errors
    /// When the text leaves the file, does not end, or is not UTF-8.
    pub fn format_name(&self) -> Result<&'a str> {
        PackedString::text_at(&self.name_view()).map_err(|e| self.named(e))
    }

    pub fn format(&self) -> Result<VertexFormat> {
        Ok(VertexFormat::new(self.format_name()?, self.stride()))
    }

    /// Bytes of a vertex.
    pub fn stride(&self) -> usize {
        usize::from(self.prototype.stride_in_bytes.get())
    }

    /// The number of its vertices.
    ///
    /// # Errors
    /// As [`Buffer::stored`], and `BadValue` for a stride of 0 or raw bytes that are not whole vertices.
    pub fn count(&self) -> Result<usize> {
        let stored = self.stored()?;
        if let Some(encd) = Encd::parse(stored) {
            return Ok(encd.count as usize);
        }
        let Some(stride) = NonZeroUsize::new(self.stride()) else { return Err(self.bad("vertex stride", 0u32)) };
        match stored.len() % stride {
            0 => Ok(stored.len() / stride),
            _ => Err(self.bad("size of raw vertices, which must be a multiple of the stride", stored.len() as u64)),
        }
    }

    /// Bytes of its vertices when decoded. Checked: a count that the stored bytes cannot hold is an error.
    ///
    /// # Errors
    /// As [`VertexBuffer::count`], and `BadValue` for a stride or a count that cannot be true.
    pub fn size(&self) -> Result<usize> {
        let (count, stride) = (self.count()?, self.stride());
        let Some(size) = count.checked_mul(stride) else { return Err(self.bad("vertex count", count as u64)) };
        if let Some(encd) = self.encoded()? {
            if !encd::is_stride(stride) {
                return Err(self.bad("vertex stride, which must be a multiple of 4 up to 256", stride as u64));
            }
            if !encd::can_hold_vertices(encd.payload, count, stride) {
                return Err(self.bad("vertex count, more than the payload can hold", count as u64));
            }
        }
        Ok(size)
    }

    /// Writes its vertices into `out`, which must be [`VertexBuffer::size`] bytes long.
    ///
    /// # Errors
    /// As [`VertexBuffer::size`], `Codec` when the payload is damaged, and `BadValue` for an `out` of another length.
    pub fn decode_into(&self, out: &mut [u8]) -> Result<()> {
        if out.len() != self.size()? {
            return Err(self.bad("length of the output", out.len() as u64));
        }
        match self.encoded()? {
            None => out.copy_from_slice(self.stored()?),
            Some(encd) => {
                encd::decode_vertices(encd.payload, self.stride(), out).map_err(|kind| self.codec(encd, kind))?;
            }
        }
        Ok(())
    }
}

impl IndexBuffer<'_> {
    /// Bytes of an index: 2 or 4.
    ///
    /// # Errors
    /// `BadValue` for any other.
    pub fn index_size(&self) -> Result<usize> {
        match self.prototype.index_size.get() {
            size @ (2 | 4) => Ok(usize::from(size)),
            size => Err(self.bad("index size, which must be 2 or 4", size)),
        }
    }

    /// The number of its indices.
    ///
    /// # Errors
    /// As [`Buffer::stored`], and `BadValue` for a size of the indices or of the raw bytes that cannot be.
    pub fn count(&self) -> Result<usize> {
        let stored = self.stored()?;
        let width = self.index_size()?;
        match Encd::parse(stored) {
            Some(encd) => Ok(encd.count as usize),
            None if stored.len().is_multiple_of(width) => Ok(stored.chunks_exact(width).len()),
            None => Err(self.bad("size of raw indices, which must be a multiple of their size", stored.len() as u64)),
        }
    }

    /// Bytes of its indices when decoded. Checked: a count that the stored bytes cannot hold is an error.
    ///
    /// # Errors
    /// As [`IndexBuffer::count`], and `BadValue` for a count that cannot be true.
    pub fn size(&self) -> Result<usize> {
        let count = self.count()?;
        if let Some(encd) = self.encoded()? {
            if !count.is_multiple_of(3) {
                return Err(self.bad("index count, which must be whole triangles", count as u64));
            }
            if !encd::can_hold_indices(encd.payload, count) {
                return Err(self.bad("index count, more than the payload can hold", count as u64));
            }
        }
        Ok(count.saturating_mul(self.index_size()?))
    }

    /// Writes its indices, little-endian, into `out`, which must be [`IndexBuffer::size`] bytes long.
    ///
    /// # Errors
    /// As [`IndexBuffer::size`], `Codec` when the payload is damaged, and `BadValue` for an `out` of another length.
    pub fn decode_into(&self, out: &mut [u8]) -> Result<()> {
        if out.len() != self.size()? {
            return Err(self.bad("length of the output", out.len() as u64));
        }
        let Some(encd) = self.encoded()? else {
            out.copy_from_slice(self.stored()?);
            return Ok(());
        };
        match self.index_size()? {
            2 => aligned(out, |out| self.decode_u16(encd, out)),
            _ => aligned(out, |out| self.decode_u32(encd, out)),
        }
    }

    fn decode_u16(&self, encd: Encd<'_>, out: &mut [u16]) -> Result<()> {
        encd::decode_indices(encd.payload, out).map_err(|kind| self.codec(encd, kind))?;
        out.iter_mut().for_each(|v| *v = v.to_le());
        Ok(())
    }

    fn decode_u32(&self, encd: Encd<'_>, out: &mut [u32]) -> Result<()> {
        encd::decode_indices(encd.payload, out).map_err(|kind| self.codec(encd, kind))?;
        out.iter_mut().for_each(|v| *v = v.to_le());
        Ok(())
    }

    /// The greatest index that the codec stores, before it is narrowed to the size of an index; `None` where nothing
    /// is packed.
    pub fn greatest_encoded(&self) -> Result<Option<u32>> {
        let Some(encd) = self.encoded()? else { return Ok(None) };
        self.size()?;
        let mut out = vec![0; self.count()?];
        self.decode_u32(encd, &mut out)?;
        Ok(out.into_iter().map(u32::from_le).max())
    }
}

/// Decodes into `out`. The decoder writes aligned integers, so that an unaligned buffer needs a copy.
fn aligned<T: FromBytes + IntoBytes + Immutable>(
    out: &mut [u8],
    decode: impl Fn(&mut [T]) -> Result<()>,
) -> Result<()> {
    if let Ok(out) = <[T]>::mut_from_bytes(out) {
        return decode(out);
    }
    let count = out.len().checked_div(size_of::<T>()).expect("an index has bytes");
    let mut aligned: Vec<T> = std::iter::repeat_with(T::new_zeroed).take(count).collect();
    decode(&mut aligned)?;
    out.copy_from_slice(aligned.as_bytes());
    Ok(())
}

/// Decoded indices, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indices<'a> {
    /// Indices of 16 bits.
    U16(&'a [le::U16]),
    /// Indices of 32 bits.
    U32(&'a [le::U32]),
}

impl<'a> Indices<'a> {
    fn new(bytes: &'a [u8], width: usize) -> Option<Self> {
        match width {
            2 => <[le::U16]>::ref_from_bytes(bytes).ok().map(Self::U16),
            _ => <[le::U32]>::ref_from_bytes(bytes).ok().map(Self::U32),
        }
    }

    /// The indices' bytes.
    pub fn bytes(&self) -> &'a [u8] {
        match self {
            Self::U16(v) => v.as_bytes(),
            Self::U32(v) => v.as_bytes(),
        }
    }

    /// The number of indices.
    pub fn len(&self) -> usize {
        match self {
            Self::U16(v) => v.len(),
            Self::U32(v) => v.len(),
        }
    }

    /// Whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub fn get(&self, at: usize) -> Option<u32> {
        match self {
            Self::U16(v) => v.get(at).map(|v| u32::from(v.get())),
            Self::U32(v) => v.get(at).map(|v| v.get()),
        }
    }

    /// `count` of them from `start` on, if there are that many.
    pub fn slice(&self, start: usize, count: usize) -> Option<Self> {
        let range = start..start.checked_add(count)?;
        match self {
            Self::U16(v) => v.get(range).map(Self::U16),
            Self::U32(v) => v.get(range).map(Self::U32),
        }
    }

    /// The indices, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        let all = *self;
        (0..all.len()).map(move |i| all.get(i).expect("each number is below the length"))
    }

    /// Three by three.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> + use<'a> {
        let all = *self;
        (0..all.len() / 3).filter_map(move |i| {
            let at = i.checked_mul(3)?;
            Some([all.get(at)?, all.get(at.checked_add(1)?)?, all.get(at.checked_add(2)?)?])
        })
    }

    /// The greatest one.
    pub fn max(&self) -> Option<u32> {
        match self {
            Self::U16(v) => v.iter().map(|v| u32::from(v.get())).max(),
            Self::U32(v) => v.iter().map(|v| v.get()).max(),
        }
    }
}

/// The bytes of a decoded buffer, or the error of decoding it.
type Cell = OnceLock<Result<Memory, Error>>;

/// The buffers of a file that have been decoded so far.
#[derive(Debug)]
pub(super) struct Decoded {
    vertices: Vec<Cell>,
    indices: Vec<Cell>,
    /// Bytes that all buffers together decode to.
    total: u64,
}

impl Geometry {
    fn decoded(&self) -> Result<&Decoded> {
        self.made.decoded.get_or_try_init(|| {
            // An unreadable array does not prevent decoding the other one.
            let vertices: Vec<Result<usize>> = self.vertex_buffers().map(|buffer| buffer.size()).collect();
            let indices: Vec<Result<usize>> = self.index_buffers().map(|buffer| buffer.size()).collect();
            let sizes = vertices.iter().chain(&indices).flatten();
            let total = sizes.fold(0u64, |sum, size| sum.saturating_add(*size as u64));
            let limit = self.decode_limit();
            if total > limit {
                let kind = ErrorKind::Limit { what: "bytes of all buffers decoded", value: total, limit };
                return Err(Error::of_part(kind, "buffers"));
            }
            let [vertices, indices] = [vertices, indices].map(|sizes| sizes.iter().map(|_| OnceLock::new()).collect());
            Ok(Decoded { vertices, indices, total })
        })
    }

    /// The size of all decoded buffers together, as far as their headers are valid.
    ///
    /// # Errors
    /// `Limit` when that is more than [`Geometry::decode_limit`].
    pub fn decoded_size(&self) -> Result<u64> {
        Ok(self.decoded()?.total)
    }

    /// The bytes of vertex buffer `index`: borrowed from the file if raw, else decoded once and kept.
    ///
    /// # Errors
    /// As [`VertexBuffer::decode_into`] and [`Geometry::decoded_size`].
    pub fn vertex_bytes(&self, index: usize) -> Result<&[u8]> {
        let buffer = self.vertex_buffer(index)?;
        if buffer.encoded()?.is_none() {
            buffer.size()?;
            return buffer.stored();
        }
        kept(&self.decoded()?.vertices, index, || decoded(buffer.size()?, |out| buffer.decode_into(out)))
    }

    /// The vertices of vertex buffer `index`.
    ///
    /// # Errors
    /// As [`Geometry::vertex_bytes`] and [`VertexBuffer::format`].
    pub fn vertices(&self, index: usize) -> Result<Vertices<'_>> {
        Ok(Vertices::new(self.vertex_bytes(index)?, self.vertex_buffer(index)?.format()?))
    }

    /// The indices of index buffer `index`: borrowed from the file if raw, else decoded once and kept.
    ///
    /// # Errors
    /// As [`IndexBuffer::decode_into`] and [`Geometry::decoded_size`].
    pub fn indices(&self, index: usize) -> Result<Indices<'_>> {
        let buffer = self.index_buffer(index)?;
        let width = buffer.index_size()?;
        let bytes = if buffer.encoded()?.is_none() {
            buffer.size()?;
            buffer.stored()?
        } else {
            kept(&self.decoded()?.indices, index, || decoded(buffer.size()?, |out| buffer.decode_into(out)))?
        };
        Indices::new(bytes, width).ok_or_else(|| buffer.bad("size of the indices", bytes.len() as u64))
    }

    /// The vertices of vertex mapping `index`.
    ///
    /// # Errors
    /// As [`Geometry::vertices`], and `BadValue` for a mapping that leaves its buffer.
    pub fn mapped_vertices(&self, index: usize) -> Result<Vertices<'_>> {
        let mapping = super::get(self.vertex_mappings()?, index, "vertex mapping")?;
        let format = self.vertex_buffer(mapping.merged_buffer_index.get().into())?.format()?;
        Ok(Vertices::new(self.mapped_vertex_bytes(index)?, format))
    }

    /// The bytes of the vertices of vertex mapping `index`, also of a format that is not known.
    ///
    /// # Errors
    /// As [`Geometry::vertex_bytes`], and `BadValue` for a mapping that leaves its buffer.
    pub fn mapped_vertex_bytes(&self, index: usize) -> Result<&[u8]> {
        let mapping = super::get(self.vertex_mappings()?, index, "vertex mapping")?;
        let buffer = usize::from(mapping.merged_buffer_index.get());
        let (bytes, stride) = (self.vertex_bytes(buffer)?, self.vertex_buffer(buffer)?.stride());
        let start = (mapping.items_offset.get() as usize).saturating_mul(stride);
        let end = start.saturating_add((mapping.items_count.get() as usize).saturating_mul(stride));
        bytes.get(start..end).ok_or_else(|| self.leaves_buffer(mapping, format_args!("vertex mapping {index}")))
    }

    #[cold]
    fn leaves_buffer(&self, mapping: &Mapping, name: fmt::Arguments<'_>) -> Error {
        let at = self.view("items").locate(mapping);
        at.bad_value("count of items, more than its buffer has", mapping.items_count.get()).context(name)
    }

    /// The indices of index mapping `index`.
    ///
    /// # Errors
    /// As [`Geometry::indices`], and `BadValue` for a mapping that leaves its buffer.
    pub fn mapped_indices(&self, index: usize) -> Result<Indices<'_>> {
        let mapping = super::get(self.index_mappings()?, index, "index mapping")?;
        let all = self.indices(usize::from(mapping.merged_buffer_index.get()))?;
        all.slice(mapping.items_offset.get() as usize, mapping.items_count.get() as usize)
            .ok_or_else(|| self.leaves_buffer(mapping, format_args!("index mapping {index}")))
    }

    /// Decodes all buffers that are packed, spread over the workers of the current rayon pool, and keeps them.
    /// Returns the errors of buffers that could not be decoded; the others are usable.
    pub fn decode_all(&self) -> Vec<Error> {
        if let Err(error) = self.decoded() {
            return vec![error];
        }
        let vertices = self.vertex_buffers().map(|buffer| (buffer.size().ok(), true, buffer.index()));
        let indices = self.index_buffers().map(|buffer| (buffer.size().ok(), false, buffer.index()));
        let mut jobs: Vec<(Option<usize>, bool, usize)> = vertices.chain(indices).collect();
        // The largest first, so that no worker is left with a large one at the end. A damaged buffer is no work.
        jobs.sort_unstable_by_key(|&(size, _, _)| std::cmp::Reverse(size));
        jobs.into_par_iter()
            .with_max_len(1)
            .filter_map(|(_, is_vertices, i)| {
                if is_vertices { self.vertex_bytes(i).map(drop).err() } else { self.indices(i).map(drop).err() }
            })
            .collect()
    }
}

fn decoded(size: usize, decode: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<Memory> {
    let mut out = Memory::zeroed(size);
    decode(&mut out)?;
    Ok(out)
}

fn kept(cells: &[Cell], index: usize, make: impl FnOnce() -> Result<Memory>) -> Result<&[u8]> {
    match cells.get(index).expect("each buffer has a cell").get_or_init(make) {
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(error.clone()),
    }
}
