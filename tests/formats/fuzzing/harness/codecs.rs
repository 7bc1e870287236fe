//! Every door of a codec: streams that were encoded and lied about, and streams of any bytes.

use super::input::{Field, any, below, lie, one_of};
use arbitrary::Unstructured;
use assetq::Source;
use assetq::formats::ErrorKind;
use assetq::formats::wows::geometry::encd;
use assetq::query::archive;
use assetq::query::archive::Codec;
use assetq_core::codec;
use assetq_sample::{deflate, geometry};

/// The most bytes that a stream may say to hold here.
const MOST: usize = 1 << 20;

pub fn codecs(data: &[u8]) {
    let mut u = Unstructured::new(data);
    match any::<u8>(&mut u) % 6 {
        0 => stream(&mut u, |bytes| codec::to_zlib(bytes, true).unwrap(), codec::zlib),
        1 => stream(&mut u, |bytes| codec::to_zlib(bytes, false).unwrap(), codec::deflate),
        2 => stream(&mut u, |bytes| codec::to_brotli(bytes).unwrap(), codec::brotli),
        3 => vertices(&mut u),
        4 => indices(&mut u),
        _ => stored(&mut u),
    }
}

/// Some bytes with repetitions in them, as long as their first byte says.
fn content(u: &mut Unstructured<'_>) -> Vec<u8> {
    let (len, step) = (usize::from(any::<u8>(u)) * usize::from(any::<u8>(u) % 16), any::<u8>(u));
    let mut value = 0u8;
    (0..len)
        .map(|n| {
            value = if n % 7 == 0 { value.wrapping_add(step) } else { value };
            value
        })
        .collect()
}

/// Bytes that were encoded and lied about, or any.
fn encoded(u: &mut Unstructured<'_>, encode: impl Fn(&[u8]) -> Vec<u8>) -> (Vec<u8>, Option<Vec<u8>>) {
    if any::<u8>(u) & 3 == 0 {
        return (u.bytes(u.len()).unwrap_or_default().to_vec(), None);
    }
    let content = content(u);
    let mut bytes = encode(&content);
    let fields: Vec<Field> = (0..bytes.len().min(64)).map(|at| Field { at, width: 1 }).collect();
    let lies = lie(u, &mut bytes, &fields);
    (bytes, (lies == 0).then_some(content))
}

fn stream(
    u: &mut Unstructured<'_>,
    encode: impl Fn(&[u8]) -> Vec<u8>,
    decode: impl Fn(&[u8], usize) -> Result<Vec<u8>, ErrorKind>,
) {
    let (bits, size) = (any::<u8>(u), any::<u32>(u) as usize % MOST);
    let (bytes, content) = encoded(u, encode);
    if let Some(content) = &content {
        assert_eq!(decode(&bytes, content.len()).ok().as_ref(), Some(content));
    }
    let size = if bits & 1 == 0 { size } else { content.map_or(bits.into(), |content| content.len() + 1) };
    if let Ok(decoded) = decode(&bytes, size) {
        assert_eq!(decoded.len(), size, "another size than declared");
    }
    let head = codec::inflate_head(&bytes, bits & 2 == 0, 64);
    assert!(head.len() <= 64);
    let mut steps = codec::ZlibSteps::new(&bytes, MOST as u64);
    let mut out = Vec::new();
    while let Ok(true) = steps.step(&mut out) {
        assert!(out.len() <= MOST, "more than the limit");
        out.clear();
    }
    assert!(steps.unread().len() <= bytes.len());
}

fn vertices(u: &mut Unstructured<'_>) {
    let stride = *one_of(u, &[4, 12, 16, 20, 24, 28, 32, 36, 40, 64, 252, 256, 0, 3, 6, 260]);
    let count = below(u, 600);
    let (bytes, content) = encoded(u, |content| {
        let whole = content.len() - content.len().checked_rem(stride).unwrap_or(content.len());
        if encd::is_stride(stride) { geometry::encode_vertices(&content[..whole], stride) } else { content.to_vec() }
    });
    if let Some(content) = content.filter(|_| encd::is_stride(stride)) {
        let whole = content.len() - content.len() % stride;
        let mut out = vec![0; whole];
        assert!(whole == 0 || encd::decode_vertices(&bytes, stride, &mut out).is_ok());
        assert_eq!(out, content[..whole]);
    }
    // A slice of the exact length: the address sanitizer detects writes past its end.
    let mut out = vec![0; stride * count].into_boxed_slice();
    let decoded = encd::decode_vertices(&bytes, stride, &mut out);
    assert!(decoded.is_err() || encd::can_hold_vertices(&bytes, count, stride) || count == 0);
    parse(&bytes);
}

fn indices(u: &mut Unstructured<'_>) {
    let count = below(u, 600);
    let triangles = below(u, 100);
    let most = 1 + u32::from(any::<u8>(u));
    let (bytes, _) = if any::<u8>(u) & 3 == 0 {
        (u.bytes(u.len()).unwrap_or_default().to_vec(), None)
    } else {
        let indices: Vec<u32> = (0..triangles as u32 * 3).map(|n| (n * 7 + n / 5) % most).collect();
        let mut bytes = encd::encode_indices(&indices, &[]).unwrap();
        let mut out = vec![0u32; indices.len()];
        encd::decode_indices(&bytes, &mut out).unwrap();
        // The codec turns triangles, and keeps their order.
        for (a, b) in indices.chunks(3).zip(out.chunks(3)) {
            let turned = [[a[0], a[1], a[2]], [a[1], a[2], a[0]], [a[2], a[0], a[1]]];
            assert!(turned.iter().any(|turn| turn == b), "{a:?} became {b:?}");
        }
        let fields: Vec<Field> = (0..bytes.len().min(64)).map(|at| Field { at, width: 1 }).collect();
        lie(u, &mut bytes, &fields);
        (bytes, Some(indices))
    };
    let mut wide = vec![0u32; count].into_boxed_slice();
    let mut narrow = vec![0u16; count].into_boxed_slice();
    let decoded = encd::decode_indices(&bytes, &mut wide).is_ok();
    assert_eq!(decoded, encd::decode_indices(&bytes, &mut narrow).is_ok());
    assert!(!decoded || encd::can_hold_indices(&bytes, count) || count == 0);
    parse(&bytes);
}

fn parse(bytes: &[u8]) {
    if let Some(blob) = encd::Encd::parse(bytes) {
        assert_eq!(blob.payload.len() + 8, bytes.len());
    }
}

/// A file of an archive, as its entry and its stored bytes say.
fn stored(u: &mut Unstructured<'_>) {
    let (kind, size, crc) = (any::<u8>(u), any::<u32>(u), any::<u32>(u));
    let codec = match kind % 4 {
        0 => Codec::None,
        1 => Codec::Deflate,
        2 => Codec::Zlib,
        _ => Codec::Unknown(size.into()),
    };
    let (bytes, content) = encoded(u, |content| match codec {
        Codec::Deflate => deflate(content, 6, false),
        Codec::Zlib => deflate(content, 6, true),
        _ => content.to_vec(),
    });
    let size = match &content {
        Some(content) if kind & 0x80 == 0 => content.len() as u64,
        _ => u64::from(size) % MOST as u64,
    };
    let mut file = archive::File::new("a/b", size, 0);
    file.codec = codec;
    file.stored_size = bytes.len() as u64;
    file.crc32 = (kind & 0x40 != 0).then_some(crc);
    let source = Source::from_vec("volume", bytes);
    match archive::decode(source, &file, "x", None) {
        Ok(decoded) => assert_eq!(decoded.bytes().len() as u64, size),
        Err(_) => assert!(
            content.is_none() || !codec.is_known() || file.crc32.is_some() || size != content.unwrap().len() as u64,
            "what was encoded is not decoded: {codec:?}"
        ),
    }
}
