//! Vertex formats (docs/formats/geometry.md §4.3): the meaning of a vertex's bytes.

use crate::bytes::le;

/// Something a vertex has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Attribute {
    /// Three floats (`xyz`).
    Position,
    /// Packed unit vector (`n`).
    Normal,
    /// Two half floats (`uv`).
    Uv,
    /// The second pair of half floats (`uv2`).
    Uv2,
    /// Three bone numbers, each times 3 (`iii`).
    Bones,
    /// Four bytes of bone weights (`ww`).
    Weights,
    /// Packed unit vector (`t`).
    Tangent,
    /// Packed unit vector (`b`).
    Binormal,
    /// A float (`r`).
    Radius,
    /// A number (`i`).
    Id,
    /// Four bytes (`oi`).
    Colour,
}

/// Letters of a format name with their meaning and size. Longer ones precede their prefixes.
const LETTERS: [(&str, &[(Attribute, u8)]); 11] = [
    ("xyz", &[(Attribute::Position, 12)]),
    ("n", &[(Attribute::Normal, 4)]),
    ("uv2", &[(Attribute::Uv, 4), (Attribute::Uv2, 4)]),
    ("uv", &[(Attribute::Uv, 4)]),
    ("iii", &[(Attribute::Bones, 4)]),
    ("ww", &[(Attribute::Weights, 4)]),
    ("tb", &[(Attribute::Tangent, 4), (Attribute::Binormal, 4)]),
    ("oi", &[(Attribute::Colour, 4)]),
    ("i", &[(Attribute::Id, 4)]),
    ("r", &[(Attribute::Radius, 4)]),
    ("pc", &[]),
];
const ATTRIBUTES: usize = 11;

/// The place of each attribute in a vertex. The stride of the buffer is the judge: where the name's attributes do not
/// add up to it, or the name is not known, only the position is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VertexFormat {
    offsets: [Option<u8>; ATTRIBUTES],
    stride: usize,
    known: bool,
}

impl VertexFormat {
    /// The format `name` (such as `set3/xyznuvtbpc`) with vertices of `stride` bytes.
    pub fn new(name: &str, stride: usize) -> Self {
        let letters = name.rsplit_once('/').map_or(name, |(_, letters)| letters);
        if let Some(offsets) = parse(letters, stride) {
            return Self { offsets, stride, known: true };
        }
        let mut offsets = [None; ATTRIBUTES];
        if stride >= 12
            && let Some(position) = offsets.get_mut(Attribute::Position as usize)
        {
            *position = Some(0);
        }
        Self { offsets, stride, known: false }
    }

    /// Whether the name is known and agrees with the stride. Otherwise only positions are read.
    pub const fn is_known(&self) -> bool {
        self.known
    }

    /// Bytes of a vertex.
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// Bytes at the end of each vertex that are not read.
    pub fn left(&self) -> usize {
        match (self.known, self.has(Attribute::Position)) {
            (true, _) => 0,
            (false, true) => self.stride.saturating_sub(12),
            (false, false) => self.stride,
        }
    }

    pub fn offset(&self, attribute: Attribute) -> Option<usize> {
        self.offsets.get(attribute as usize).copied().flatten().map(usize::from)
    }

    /// Whether vertices have `attribute`.
    pub fn has(&self, attribute: Attribute) -> bool {
        self.offset(attribute).is_some()
    }
}

/// The offsets of the attributes in `letters`, if all are known and unique, and they fill `stride`.
fn parse(mut letters: &str, stride: usize) -> Option<[Option<u8>; ATTRIBUTES]> {
    let mut offsets = [None; ATTRIBUTES];
    let mut at = 0u8;
    while !letters.is_empty() {
        let (rest, attributes) = LETTERS.iter().find_map(|(l, a)| Some((letters.strip_prefix(l)?, a)))?;
        for &(attribute, size) in *attributes {
            let offset = offsets.get_mut(attribute as usize)?;
            if offset.replace(at).is_some() {
                return None;
            }
            at = at.checked_add(size)?;
        }
        letters = rest;
    }
    (usize::from(at) == stride && offsets.first()?.is_some()).then_some(offsets)
}

/// Unpacks a unit vector: each byte is offset-binary, 0 for -1 and 255 for 1.
#[inline]
pub fn unpack_normal(packed: [u8; 3]) -> [f32; 3] {
    packed.map(|b| f32::from(b) / 127.5 - 1.0)
}

/// A half float as a float; exact.
#[inline]
pub fn half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let magnitude = u32::from(bits & 0x7FFF) << 13;
    // The exponent is moved to the float's bias by a multiplication, which also takes subnormal halves along.
    let value = f32::from_bits(magnitude) * f32::from_bits(0x7780_0000);
    let special = if bits & 0x7C00 == 0x7C00 { 0x7F80_0000 } else { 0 };
    f32::from_bits(value.to_bits() | special | sign)
}

/// Vertices of one format, borrowed.
#[derive(Debug, Clone, Copy)]
pub struct Vertices<'a> {
    bytes: &'a [u8],
    format: VertexFormat,
}

impl<'a> Vertices<'a> {
    /// The vertices in `bytes`; trailing bytes of an incomplete vertex are skipped.
    pub const fn new(bytes: &'a [u8], format: VertexFormat) -> Self {
        Self { bytes, format }
    }

    /// The vertices' format.
    pub const fn format(&self) -> &VertexFormat {
        &self.format
    }

    /// The vertices' bytes.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The number of vertices.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len().checked_div(self.format.stride).unwrap_or(0)
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `count` vertices from `start` on, if that many exist.
    pub fn slice(&self, start: usize, count: usize) -> Option<Self> {
        let stride = self.format.stride;
        let bytes = self.bytes.get(start.checked_mul(stride)?..start.checked_add(count)?.checked_mul(stride)?)?;
        Some(Self { bytes, format: self.format })
    }

    /// The bytes of `attribute` in every vertex; empty if vertices lack it.
    #[inline]
    fn chunks<const N: usize>(
        &self,
        attribute: Attribute,
    ) -> Option<impl ExactSizeIterator<Item = [u8; N]> + use<'a, N>> {
        let at = self.format.offset(attribute)?;
        let end = at.checked_add(N).filter(|&end| end <= self.format.stride)?;
        // The range lies in every vertex, as just checked, so that the zeros are never taken.
        Some(self.bytes.chunks_exact(self.format.stride).map(move |vertex| {
            vertex.get(at..end).and_then(|bytes| bytes.first_chunk::<N>()).copied().unwrap_or([0; N])
        }))
    }

    fn unit_vectors(&self, attribute: Attribute) -> Option<impl ExactSizeIterator<Item = [f32; 3]> + use<'a>> {
        Some(self.chunks::<3>(attribute)?.map(unpack_normal))
    }

    fn half_pairs(&self, attribute: Attribute) -> Option<impl ExactSizeIterator<Item = [f32; 2]> + use<'a>> {
        Some(
            self.chunks::<4>(attribute)?
                .map(|[a, b, c, d]| [half(u16::from_le_bytes([a, b])) + 0.5, half(u16::from_le_bytes([c, d])) + 0.5]),
        )
    }

    /// Positions, left-handed with y up.
    pub fn positions(&self) -> Option<impl ExactSizeIterator<Item = [f32; 3]> + use<'a>> {
        Some(self.chunks::<12>(Attribute::Position)?.map(|bytes| {
            let [x, y, z]: [le::F32; 3] = zerocopy::transmute!(bytes);
            [x.get(), y.get(), z.get()]
        }))
    }

    /// Unit normals.
    pub fn normals(&self) -> Option<impl ExactSizeIterator<Item = [f32; 3]> + use<'a>> {
        self.unit_vectors(Attribute::Normal)
    }

    /// Unit tangents.
    pub fn tangents(&self) -> Option<impl ExactSizeIterator<Item = [f32; 3]> + use<'a>> {
        self.unit_vectors(Attribute::Tangent)
    }

    /// Unit binormals.
    pub fn binormals(&self) -> Option<impl ExactSizeIterator<Item = [f32; 3]> + use<'a>> {
        self.unit_vectors(Attribute::Binormal)
    }

    /// Texture coordinates, from the top left.
    pub fn uvs(&self) -> Option<impl ExactSizeIterator<Item = [f32; 2]> + use<'a>> {
        self.half_pairs(Attribute::Uv)
    }

    /// The second pair of texture coordinates.
    pub fn uv2s(&self) -> Option<impl ExactSizeIterator<Item = [f32; 2]> + use<'a>> {
        self.half_pairs(Attribute::Uv2)
    }

    /// Bone numbers as stored, the one with the greatest weight last. The file has each times 3; a byte that is not a multiple of 3 is
    /// rounded down.
    pub fn bone_indices(&self) -> Option<impl ExactSizeIterator<Item = [u8; 3]> + use<'a>> {
        Some(self.chunks::<3>(Attribute::Bones)?.map(|b| b.map(|b| b / 3)))
    }

    /// Bone weights as stored: see [`Vertices::influences`].
    pub fn weights(&self) -> Option<impl ExactSizeIterator<Item = [u8; 4]> + use<'a>> {
        self.chunks(Attribute::Weights)
    }

    /// Bones with their weights, the greatest weight first: bytes are stored from the last to the first, and the weight of the third is the
    /// rest of 255 (docs/formats/geometry.md §4.5). `None` without both.
    pub fn influences(&self) -> Option<impl ExactSizeIterator<Item = [(u8, u8); 3]> + use<'a>> {
        Some(self.bone_indices()?.zip(self.weights()?).map(|([c, b, a], [_, second, first, _])| {
            let rest = 255u8.saturating_sub(first).saturating_sub(second);
            [(a, first), (b, second), (c, rest)]
        }))
    }

    pub fn radii(&self) -> Option<impl ExactSizeIterator<Item = f32> + use<'a>> {
        Some(self.chunks(Attribute::Radius)?.map(f32::from_le_bytes))
    }

    pub fn ids(&self) -> Option<impl ExactSizeIterator<Item = u32> + use<'a>> {
        Some(self.chunks(Attribute::Id)?.map(u32::from_le_bytes))
    }

    /// Colours, four bytes each.
    pub fn colours(&self) -> Option<impl ExactSizeIterator<Item = [u8; 4]> + use<'a>> {
        self.chunks(Attribute::Colour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_fill_the_strides_of_real_files() {
        let known = [
            ("xyznuvpc", 20),
            ("xyznuvrpc", 24),
            ("xyznuvtbpc", 28),
            ("xyznuviiiwwpc", 28),
            ("xyznuv2tbpc", 32),
            ("xyznuvtbipc", 32),
            ("xyznuviiiwwr", 32),
            ("xyznuv2tbipc", 36),
            ("xyznuviiiwwtbpc", 36),
            ("xyznuv2iiiwwtbpc", 40),
            ("xyznuvtboi", 32),
            ("xyznuviiiwwrpc", 32),
        ];
        for (name, stride) in known {
            let format = VertexFormat::new(&format!("set3/{name}"), stride);
            assert!(format.is_known(), "{name}");
            assert_eq!(format.left(), 0);
        }
        let format = VertexFormat::new("set3/xyznuvtboi", 32);
        assert_eq!(format.offset(Attribute::Colour), Some(28));
        assert_eq!(format.offset(Attribute::Id), None);
        assert_eq!(VertexFormat::new("set3/xyznuvtbipc", 32).offset(Attribute::Id), Some(28));
        assert_eq!(VertexFormat::new("set3/xyznuv2tbpc", 32).offset(Attribute::Tangent), Some(24));
    }

    #[test]
    fn the_stride_is_the_judge() {
        for (name, stride, left) in [
            ("set3/xyznuvtbpc", 32, 20),
            ("set3/xyzq", 40, 28),
            ("xyzxyz", 24, 12),
            ("", 16, 4),
            ("n", 4, 4),
            ("set3/xyz", 8, 8),
        ] {
            let format = VertexFormat::new(name, stride);
            assert!(!format.is_known(), "{name}");
            assert_eq!(format.left(), left, "{name}");
            assert_eq!(format.has(Attribute::Position), stride >= 12);
            assert!(!format.has(Attribute::Normal));
        }
    }

    #[test]
    fn halves_are_exact() {
        for (bits, value) in [
            (0x0000u16, 0.0f32),
            (0x3C00, 1.0),
            (0xBC00, -1.0),
            (0x3800, 0.5),
            (0x7BFF, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x03FF, 6.097_555e-5),
            (0x0400, 6.103_515_6e-5),
            (0x7C00, f32::INFINITY),
            (0xFC00, f32::NEG_INFINITY),
        ] {
            assert_eq!(half(bits), value, "{bits:04x}");
        }
        assert!(half(0x7E00).is_nan());
        assert!(half(0x8000).is_sign_negative());
    }

    #[test]
    fn attributes_are_read_in_place() {
        let mut bytes = Vec::new();
        for i in 0..3u8 {
            [f32::from(i), 2.0, -1.5].iter().for_each(|v| bytes.extend(v.to_le_bytes()));
            bytes.extend([0, 255, i, 0]);
            bytes.extend([0x00, 0x3C, 0x00, 0xB8]);
            bytes.extend([0, 3, 9, 0]);
            bytes.extend([1, 2, 3, i]);
            bytes.extend(0.25f32.to_le_bytes());
        }
        let vertices = Vertices::new(&bytes, VertexFormat::new("set3/xyznuviiiwwr", 32));
        assert_eq!(vertices.len(), 3);
        assert_eq!(vertices.positions().unwrap().nth(2), Some([2.0, 2.0, -1.5]));
        assert_eq!(vertices.normals().unwrap().next(), Some([-1.0, 1.0, -1.0]));
        assert_eq!(vertices.uvs().unwrap().next(), Some([1.5, 0.0]));
        assert_eq!(vertices.bone_indices().unwrap().next(), Some([0, 1, 3]));
        assert_eq!(vertices.weights().unwrap().nth(1), Some([1, 2, 3, 1]));
        assert_eq!(vertices.radii().unwrap().next(), Some(0.25));
        assert!(vertices.tangents().is_none());
        assert_eq!(vertices.slice(1, 2).unwrap().positions().unwrap().next(), Some([1.0, 2.0, -1.5]));
        assert!(vertices.slice(2, 2).is_none());
        assert!(vertices.slice(usize::MAX, 2).is_none());
    }
}
