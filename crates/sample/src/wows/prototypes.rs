//! Records of every prototype type, with valid inner pointers.

use crate::random::Rng;
use crate::writer::{Writer, bytes};
use assetq_wows::bwdb::prototypes::{Layout, PrototypeType};

/// Builds a blob: its header, the announced number of records, and their data.
#[derive(Debug)]
pub struct BlobWriter {
    /// The bytes; positions in them are positions in the blob.
    pub data: Writer,
    count: usize,
    size: usize,
}

impl BlobWriter {
    /// A blob of `count` records of this type, all zero.
    pub fn new(prototype: PrototypeType, count: usize) -> Self {
        Self::with_size(Layout::Current(prototype).size(), count)
    }

    /// A blob of `count` records of `size` bytes.
    pub fn with_size(size: usize, count: usize) -> Self {
        let mut data = Writer::new();
        data.all([count as u64, 16]);
        data.zeros(count * size);
        Self { data, count, size }
    }

    pub fn record(&self, index: usize) -> usize {
        assert!(index < self.count);
        16 + index * self.size
    }

    /// Points the field at `base + field` to the bytes that are written next.
    pub fn point_here(&mut self, base: usize, field: usize) {
        let here = self.data.position();
        self.data.point(base + field, base, here);
    }

    /// Appends these bytes, and points the field at `base + field` to them. For no bytes it is a null pointer.
    pub fn array(&mut self, base: usize, field: usize, bytes: impl AsRef<[u8]>) {
        if !bytes.as_ref().is_empty() {
            self.point_here(base, field);
            self.data.push(bytes);
        }
    }

    /// Appends `count` zeroed structs of `size` bytes and points the field at `base + field` to them.
    pub fn structs(&mut self, base: usize, field: usize, count: usize, size: usize) -> usize {
        if count > 0 {
            self.point_here(base, field);
        }
        self.data.zeros(count * size)
    }

    /// As [`Self::structs`]; returns the position of each.
    pub fn each(
        &mut self,
        base: usize,
        field: usize,
        count: usize,
        size: usize,
    ) -> impl Iterator<Item = usize> + use<> {
        let at = self.structs(base, field, count, size);
        (0..count).map(move |i| at + i * size)
    }

    /// A packed string at `at`, its text appended.
    pub fn text(&mut self, at: usize, text: &str) {
        self.data.set(at, text.len() as u32 + 1);
        self.point_here(at, 8);
        self.data.text(text);
    }

    pub fn floats(&mut self, at: usize, values: &[f32]) {
        self.data.patch(at, floats(values));
    }

    pub fn finish(self) -> Vec<u8> {
        self.data.into_bytes()
    }
}

/// Little-endian bytes of u32s.
pub fn u32s(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    bytes(values)
}

/// Little-endian bytes of u16s.
pub fn u16s(values: impl IntoIterator<Item = u16>) -> Vec<u8> {
    bytes(values)
}

/// Little-endian bytes of u64s.
pub fn u64s(values: impl IntoIterator<Item = u64>) -> Vec<u8> {
    bytes(values)
}

/// Little-endian bytes of floats.
pub fn floats(values: &[f32]) -> Vec<u8> {
    bytes(values)
}

pub(super) fn records(
    blob: &mut BlobWriter,
    prototype: PrototypeType,
    strings: &[u32],
    resources: &Resources,
    rng: &mut Rng,
) {
    let from = Choices { strings, resources };
    for index in 0..blob.count {
        let at = blob.record(index);
        match prototype {
            PrototypeType::Material => material(blob, at, &from, rng),
            PrototypeType::Visual => visual(blob, at, &from, rng),
            PrototypeType::SkeletonExtender => skeleton_extender(blob, at, &from, rng),
            PrototypeType::Model => model(blob, at, index, &from, rng),
            PrototypeType::PointLight => light(blob, at, rng),
            PrototypeType::Effect => effect(blob, at, index, rng),
            PrototypeType::VelocityField => velocity_field(blob, at, rng),
            PrototypeType::EffectPreset => blob.data.patch(at, u64s([from.resource(5, rng), from.resource(5, rng)])),
            PrototypeType::EffectMetadata => effect_metadata(blob, at, rng),
            PrototypeType::AtlasContour => atlas_contour(blob, at, rng),
        }
    }
}

struct Choices<'a> {
    strings: &'a [u32],
    resources: &'a Resources,
}

impl Choices<'_> {
    fn name(&self, rng: &mut Rng) -> u32 {
        self.strings[rng.usize(..self.strings.len())]
    }

    fn names(&self, count: usize, rng: &mut Rng) -> Vec<u8> {
        u32s((0..count).map(|_| self.name(rng)))
    }

    fn resource(&self, kind: usize, rng: &mut Rng) -> u64 {
        one_of(&self.resources.by_type[kind], rng)
    }
}

fn one_of(ids: &[u64], rng: &mut Rng) -> u64 {
    if ids.is_empty() { 0 } else { ids[rng.usize(..ids.len())] }
}

fn unit(rng: &mut Rng) -> f32 {
    (rng.f32() * 1024.0).round() / 1024.0
}

/// The bytes of `count` random floats.
fn units(count: usize, rng: &mut Rng) -> Vec<u8> {
    bytes((0..count).map(|_| unit(rng)))
}

fn matrices(count: usize, rng: &mut Rng) -> Vec<u8> {
    bytes((0..count).flat_map(|_| {
        let [x, y, z] = [(); 3].map(|()| unit(rng) * 20.0 - 10.0);
        [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, z, 1.0]
    }))
}

fn material(b: &mut BlobWriter, at: usize, from: &Choices<'_>, rng: &mut Rng) {
    // Properties of each kind: bool int uint float texture vec2 vec3 vec4 matrix.
    let counts: [usize; 9] = [2, 1, 1, 4, 4, 1, 1, 3, usize::from(rng.u8(..) < 16)].map(|n| rng.usize(..=n));
    let total: usize = counts.iter().sum();
    b.data.set(at, total as u16);
    b.data.patch(at + 2, counts.map(|n| n as u8));
    b.array(at, 0x10, from.names(total, rng));
    let refs = counts.iter().enumerate().flat_map(|(kind, &n)| (0..n).map(move |i| (i << 4 | kind) as u16));
    b.array(at, 0x18, u16s(refs));
    b.array(at, 0x20, (0..counts[0]).map(|_| rng.u8(..2)).collect::<Vec<u8>>());
    b.array(at, 0x28, u32s((0..counts[1]).map(|_| rng.u32(..100))));
    b.array(at, 0x30, u32s((0..counts[2]).map(|_| rng.u32(..100))));
    b.array(at, 0x38, units(counts[3], rng));
    b.array(at, 0x40, u64s((0..counts[4]).map(|_| one_of(&from.resources.textures, rng))));
    b.array(at, 0x48, units(counts[5] * 2, rng));
    b.array(at, 0x50, units(counts[6] * 3, rng));
    b.array(at, 0x58, units(counts[7] * 4, rng));
    b.array(at, 0x60, matrices(counts[8], rng));
    b.data.set(at + 0x68, one_of(&from.resources.textures, rng));
    b.data.set(at + 0x70, rng.u32(..4));
    b.data.set(at + 0x74, rng.i32(0..8));
}

fn visual(b: &mut BlobWriter, at: usize, from: &Choices<'_>, rng: &mut Rng) {
    let nodes = 1 + rng.usize(..79);
    skeleton(b, at, nodes, from, rng);
    b.data.set(at + 0x30, one_of(&from.resources.geometries, rng));
    let (sets, lods) = (1 + rng.usize(..6), 1 + rng.usize(..4));
    b.data.patch(at + 0x38, [0, 1, sets as u8, 0, lods as u8]);
    b.floats(at + 0x40, &[-unit(rng), -unit(rng), -unit(rng)]);
    b.floats(at + 0x50, &[unit(rng), unit(rng), unit(rng)]);
    for set in b.each(at, 0x60, sets, 0x28) {
        b.data.patch(set, from.names(4, rng));
        b.data.set(set + 0x10, from.resource(0, rng));
        let nodes = 1 + rng.usize(..3);
        b.data.patch(set + 0x18, [u8::from(nodes > 1), nodes as u8]);
        b.array(set, 0x20, from.names(nodes, rng));
    }
    for (index, lod) in b.each(at, 0x68, lods, 0x10).enumerate() {
        b.floats(lod, &[100.0 * (index + 1) as f32]);
        b.data.patch(lod + 4, [1]);
        b.data.set(lod + 6, sets as u16);
        b.array(lod, 8, from.names(sets, rng));
    }
}

fn skeleton(b: &mut BlobWriter, at: usize, nodes: usize, from: &Choices<'_>, rng: &mut Rng) {
    b.data.set(at, nodes as i32);
    let names = from.names(nodes, rng);
    b.array(at, 0x08, &names);
    b.array(at, 0x10, u16s((0..nodes).map(|i| i as u16)));
    b.array(at, 0x18, &names);
    b.array(at, 0x20, matrices(nodes, rng));
    b.array(at, 0x28, u16s((0..nodes).map(|i| if i == 0 { 0xFFFF } else { rng.u16(..i as u16) })));
}

fn skeleton_extender(b: &mut BlobWriter, at: usize, from: &Choices<'_>, rng: &mut Rng) {
    let nodes = 1 + rng.usize(..6);
    b.data.set(at + 2, nodes as u16);
    b.array(at, 0x08, from.names(nodes, rng));
    b.array(at, 0x10, from.names(nodes, rng));
    b.array(at, 0x18, matrices(nodes, rng));
}

fn model(b: &mut BlobWriter, at: usize, index: usize, from: &Choices<'_>, rng: &mut Rng) {
    let visuals = &from.resources.by_type[1];
    let visual = if visuals.is_empty() { 0 } else { visuals[index % visuals.len()] };
    b.data.set(at, visual);
    let (extenders, animations, dyes) = (rng.usize(..2), rng.usize(..2), rng.usize(..3));
    b.data.patch(at + 8, [extenders as u8, rng.u8(..5), animations as u8, dyes as u8]);
    b.array(at, 0x10, u64s((0..extenders).map(|_| from.resource(2, rng))));
    b.array(at, 0x18, u64s((0..animations).map(|_| one_of(&from.resources.geometries, rng))));
    for dye in b.each(at, 0x20, dyes, 0x20) {
        b.data.patch(dye, from.names(2, rng));
        let tints = rng.usize(..3);
        b.data.set(dye + 8, tints as u32);
        b.array(dye, 0x10, from.names(tints, rng));
        b.array(dye, 0x18, u64s((0..tints).map(|_| from.resource(0, rng))));
    }
}

fn light(b: &mut BlobWriter, at: usize, rng: &mut Rng) {
    for (curve, width) in [(at, 5), (at + 0x20, 2)] {
        let keys = rng.usize(..4);
        b.floats(curve, &[1.0]);
        b.data.patch(curve + 4, [1]);
        b.data.set(curve + 0x10, keys as i32);
        b.array(curve + 0x10, 8, units(keys * width, rng));
    }
    b.floats(at + 0x40, &[unit(rng), unit(rng), unit(rng), 1.0]);
    b.floats(at + 0x50, &[unit(rng), unit(rng), unit(rng), 5.0]);
    b.data.set(at + 0x64, rng.u32(..3));
    b.data.patch(at + 0x68, [1, 0]);
}

fn ramp(b: &mut BlobWriter, at: usize, rng: &mut Rng) {
    let keys = 1 + rng.usize(..4);
    b.data.set(at, keys as u32);
    b.array(at, 8, bytes((0..keys).flat_map(|i| [unit(rng), i as f32 / keys as f32])));
}

fn scalar(b: &mut BlobWriter, at: usize, rng: &mut Rng) {
    let kind = rng.i32(-1..=2);
    b.data.set(at, kind);
    match kind {
        0 => b.array(at, 8, units(2, rng)),
        1 => b.array(at, 8, units(1, rng)),
        2 => {
            let body = b.structs(at, 8, 1, 0x18);
            b.data.patch(body + 0x10, u32s([rng.u32(..6), rng.u32(..3)]));
            ramp(b, body, rng);
        }
        _ => {}
    }
}

fn volumes(b: &mut BlobWriter, at: usize, rng: &mut Rng) {
    let count = rng.usize(..3);
    b.data.set(at + 4, count as u32);
    for shape in b.each(at, 8, count, 0x10) {
        let kind = rng.i32(-1..=4);
        b.data.set(shape, kind);
        let size = match kind {
            0 | 4 => 6,
            1 => 3,
            2 => 16,
            3 => 5,
            _ => 0,
        };
        b.array(shape, 8, units(size, rng));
    }
}

fn effect(b: &mut BlobWriter, at: usize, index: usize, rng: &mut Rng) {
    let systems = 1 + rng.usize(..4);
    b.floats(at, &[1.0 + unit(rng)]);
    b.data.set(at + 4, systems as u32);
    for (number, system) in b.each(at, 8, systems, 0x1C8).enumerate() {
        b.text(system, "particles/textures/smoke.dds");
        ramp(b, system + 0x20, rng);
        b.floats(system + 0x30, &[0.0, 1.0, 0.0]);
        b.data.set(system + 0x80, 2i32);
        b.data.set(system + 0x88, rng.i32(0..10));
        let emitter = system + 0xA0;
        for field in [0x00, 0x30, 0x40, 0x50, 0x60, 0x70] {
            scalar(b, emitter + field, rng);
        }
        volumes(b, emitter + 0x10, rng);
        volumes(b, emitter + 0x20, rng);
        ramp(b, system + 0x130, rng);
        b.data.patch(system + 0x170, u32s([rng.u32(1..200), 4]));
        b.floats(system + 0x178, &[2.5, 0.0]);
        b.floats(system + 0x188, &[500.0]);
        b.data.set(system + 0x18C, 1u32);
        let config = b.structs(system + 0x188, 8, 1, 0x20);
        ramp(b, config, rng);
        b.data.set(config + 0x10, 2u32);
        b.array(config, 0x18, u32s([3, 7]));
        b.text(system + 0x198, &format!("system_{index}_{number}"));
        b.data.set(system + 0x1A8, 1u32);
        let channel = b.structs(system + 0x1A8, 8, 1, 0x10);
        b.data.set(channel, 1u32);
        let config = b.structs(channel, 8, 1, 0x20);
        ramp(b, config, rng);
        components(b, system, rng);
    }
}

fn components(b: &mut BlobWriter, system: usize, rng: &mut Rng) {
    let count = rng.usize(..6);
    b.data.set(system + 0x1B8, count as i32);
    for component in b.each(system, 0x1C0, count, 0x10) {
        match rng.u8(..4) {
            0 => {
                b.data.set(component, 1i32);
                let fields = action_body(b, component, 0, 0x70);
                light(b, fields, rng);
            }
            1 => {
                b.data.set(component, 3i32);
                action(b, component, rng.i32(0..13), &SYSTEM_ACTIONS, rng);
            }
            _ => action(b, component, rng.i32(0..14), &PARTICLE_ACTIONS, rng),
        }
    }
}

/// A part of the body of an action.
enum BodyPart {
    Scalar,
    Ramp,
    Volumes,
    /// Two keys of a ramp of colours.
    Colors,
    /// A random vector.
    Vector,
    Floats(&'static [f32]),
    Text(&'static str),
}

/// The size of an action's body, and its parts with their offsets. Other bytes are zero.
type Action = (usize, &'static [(usize, BodyPart)]);

const DAMPFER: Action = (0x14, &[(0, BodyPart::Scalar)]);
const STREAM: Action = (0x18, &[(0, BodyPart::Vector), (0x0C, BodyPart::Floats(&[0.5]))]);
const JITTER: Action = (0x28, &[(0, BodyPart::Volumes), (0x10, BodyPart::Volumes)]);
const FORCE: Action = (0x34, &[(0, BodyPart::Scalar), (0x10, BodyPart::Scalar), (0x20, BodyPart::Scalar)]);
const RESIZER: Action = (0x0C, &[(4, BodyPart::Floats(&[1.0, 2.0]))]);
const ORBITOR: Action = (0x30, &[(0, BodyPart::Scalar)]);
const SCALER: Action = (0x24, &[(0, BodyPart::Scalar), (0x10, BodyPart::Scalar)]);
const TINT: Action = (0x1C, &[(0, BodyPart::Colors)]);
const ROUND: Action = (0x30, &[(0, BodyPart::Text("particles/spray.xml")), (0x10, BodyPart::Vector)]);
const ALPHA_SETTER: Action = (0x14, &[(0, BodyPart::Ramp)]);
const FIELD: Action = (
    0x38,
    &[(0, BodyPart::Floats(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0])), (0x28, BodyPart::Text("particles/fields/wake.vf"))],
);
const BOX: Action = (0x38, &[(0, BodyPart::Text("particles/spray.xml")), (0x10, BodyPart::Vector)]);
/// The text follows its reference: the form that documents call inline.
const SPAWNER: Action = (0x20, &[(0x10, BodyPart::Text("particles/splash.xml")), (0, BodyPart::Ramp)]);
const PLANE: Action =
    (0x34, &[(0, BodyPart::Text("particles/foam.xml")), (0x10, BodyPart::Floats(&[0.0, 1.0, 0.0, 0.0]))]);
const CREATOR: Action = (0x44, &[(0, BodyPart::Ramp), (0x10, BodyPart::Volumes), (0x20, BodyPart::Volumes)]);

/// The actions on particles, by number. A magnet has the parts of a stream.
const PARTICLE_ACTIONS: [Action; 14] =
    [DAMPFER, STREAM, JITTER, FORCE, RESIZER, ORBITOR, SCALER, TINT, ROUND, ALPHA_SETTER, ROUND, STREAM, FIELD, BOX];

/// The actions on systems, by number.
const SYSTEM_ACTIONS: [Action; 13] =
    [DAMPFER, SPAWNER, STREAM, JITTER, FORCE, PLANE, ROUND, ORBITOR, ROUND, STREAM, FIELD, BOX, CREATOR];

/// The slot of an action or of a light, and its fields: `size` zeroed bytes.
fn action_body(b: &mut BlobWriter, component: usize, action: i32, size: usize) -> usize {
    let slot = b.structs(component, 8, 1, 0x10);
    b.data.set(slot, action);
    b.structs(slot, 8, 1, size)
}

fn action(b: &mut BlobWriter, component: usize, number: i32, actions: &[Action], rng: &mut Rng) {
    let (size, parts) = actions[number as usize];
    let body = action_body(b, component, number, size);
    for (at, part) in parts {
        let at = body + at;
        match part {
            BodyPart::Scalar => scalar(b, at, rng),
            BodyPart::Ramp => ramp(b, at, rng),
            BodyPart::Volumes => volumes(b, at, rng),
            BodyPart::Colors => {
                b.data.set(at, 2u32);
                b.array(at, 8, floats(&[1.0, 1.0, 1.0, 1.0, 0.0, 0.5, 0.5, 0.5, 0.0, 1.0]));
            }
            BodyPart::Vector => b.floats(at, &[unit(rng), unit(rng), unit(rng)]),
            BodyPart::Floats(values) => b.floats(at, values),
            BodyPart::Text(text) => b.text(at, text),
        }
    }
}

fn velocity_field(b: &mut BlobWriter, at: usize, rng: &mut Rng) {
    let [x, y, z] = [4u32, 4, 2 + rng.u32(..3)];
    let components = x * y * z * 3;
    b.data.patch(at, u32s([x, y, z, components]));
    b.array(at, 0x10, u16s((0..components).map(|_| rng.u16(..))));
}

fn effect_metadata(b: &mut BlobWriter, at: usize, rng: &mut Rng) {
    let names = ["intensity", "scale", "wind"];
    let count = rng.usize(..=names.len());
    b.data.set(at, count as u32);
    for (entry, name) in b.each(at, 8, count, 0x20).zip(names) {
        b.text(entry, name);
        b.floats(entry + 0x10, &[0.0, 1.0, unit(rng)]);
    }
}

fn atlas_contour(b: &mut BlobWriter, at: usize, rng: &mut Rng) {
    let frames = 1 + rng.usize(..16);
    b.data.set(at, frames as i32);
    for frame in b.each(at, 8, frames, 0x10) {
        let points = 4 + rng.usize(..8);
        b.data.set(frame, points as i32);
        b.array(frame, 8, units(points * 2, rng));
    }
}

/// The path ids that records refer to, and belong to.
#[derive(Debug, Default)]
pub(super) struct Resources {
    pub(super) by_type: [Vec<u64>; 10],
    pub(super) deleted: Vec<u64>,
    pub(super) geometries: Vec<u64>,
    pub(super) textures: Vec<u64>,
}
