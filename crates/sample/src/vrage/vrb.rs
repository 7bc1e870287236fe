//! Writes `.vrb` archives. Sections (§) refer to docs/formats/vrb.md.
//!
//! [`TypesBuilder`] takes types and models, [`ValuesBuilder`] the bytes of values, [`ArchiveBuilder`] puts them
//! together. None of them checks anything: tests write damaged files with them too.

use crate::random::Rng;
use crate::writer::{Number, bytes};
use crate::{Size, Writer};
use assetq_core::codec::{to_brotli, to_zlib, xxh64};
use assetq_core::table::Guid;
use assetq_vrage::vrb::{ArchiveHeader, MAGIC, ModelId, TypeId, VERSION};

/// How a part is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// Uncompressed.
    None,
    /// Deflate with a zlib header.
    Zlib,
    /// Deflate without one.
    Deflate,
    /// Brotli, with the settings that the game has (§2). Another encoder makes other choices under the same
    /// settings, so the bytes are not the game's.
    Brotli,
}

impl Codec {
    pub fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Zlib | Self::Deflate => 1,
            Self::Brotli => 2,
        }
    }

    pub fn encode(self, data: &[u8]) -> Vec<u8> {
        match self {
            Self::None => data.to_vec(),
            Self::Zlib | Self::Deflate => to_zlib(data, self == Self::Zlib).expect("writing to memory"),
            Self::Brotli => to_brotli(data).expect("writing to memory"),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct MemberSpec<'a> {
    pub name: &'a str,
    pub model: ModelId,
    /// 0 for the declared type, 1 for a polymorphic member.
    pub prefix: i32,
    /// The member's offset in the image, if the composite is stored as one.
    pub offset: i32,
}

/// Members of the declared types: `members! { Name: STRING, Seed: UINT64 }`.
macro_rules! members {
    ($($name:ident: $model:expr),* $(,)?) => { [$($crate::vrb::member(stringify!($name), $model)),*] };
}
pub(crate) use members;

/// A member of the declared type.
pub fn member(name: &str, model: ModelId) -> MemberSpec<'_> {
    MemberSpec { name, model, prefix: 0, offset: 0 }
}

/// A member whose values state their model.
pub fn polymorphic(name: &str, model: ModelId) -> MemberSpec<'_> {
    MemberSpec { prefix: 1, ..member(name, model) }
}

/// A member at `offset` of an image.
pub fn placed(name: &str, model: ModelId, offset: i32) -> MemberSpec<'_> {
    MemberSpec { offset, ..member(name, model) }
}

/// Built-in numbers (§4.4).
pub mod builtin {
    use assetq_vrage::vrb::{ModelId, TypeId};

    pub fn type_of(model: ModelId) -> TypeId {
        TypeId(model.0)
    }

    pub const STRING: ModelId = ModelId(0x02);
    pub const TYPE: ModelId = ModelId(0x03);
    pub const BOOLEAN: ModelId = ModelId(0x04);
    pub const BYTE: ModelId = ModelId(0x07);
    pub const INT16: ModelId = ModelId(0x08);
    pub const UINT16: ModelId = ModelId(0x09);
    pub const INT32: ModelId = ModelId(0x0A);
    pub const UINT32: ModelId = ModelId(0x0B);
    pub const INT64: ModelId = ModelId(0x0C);
    pub const UINT64: ModelId = ModelId(0x0D);
    pub const SINGLE: ModelId = ModelId(0x0F);
    pub const DOUBLE: ModelId = ModelId(0x10);
    pub const GUID: ModelId = ModelId(0x19);
    // Open generic types.
    pub const NULLABLE: TypeId = TypeId(0x14);
    pub const LIST: TypeId = TypeId(0x15);
    pub const DICTIONARY: TypeId = TypeId(0x17);
}

/// Flags of models (§4.2).
pub mod flags {
    pub const CLASS: u8 = 0x00;
    /// An abstract type or interface.
    pub const INTERFACE: u8 = 0x09;
    /// A struct with lists, types or arrays in it.
    pub const STRUCT: u8 = 0x04;
    /// A struct of values only.
    pub const PLAIN: u8 = 0x0C;
    /// A struct stored as its image.
    pub const IMAGE: u8 = 0x1C;
    pub const ENUM: u8 = 0x5C;
}

/// Builds the type table. Types and models get numbers from 0x200 on, each in their own space, in the order
/// in which they are added; a reference to a later one is written as its number.
#[derive(Debug, Default, Clone)]
pub struct TypesBuilder {
    types: Writer,
    models: Writer,
    type_count: u32,
    model_count: u32,
}

impl TypesBuilder {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn next_model(&self) -> ModelId {
        ModelId(0x200 + self.model_count)
    }

    fn add_type(&mut self) -> TypeId {
        self.type_count += 1;
        TypeId(0x200 + self.type_count - 1)
    }

    fn add_model(&mut self, tag: u8, ty: TypeId) -> ModelId {
        self.models.push([tag]);
        self.models.add(ty.0);
        self.model_count += 1;
        ModelId(0x200 + self.model_count - 1)
    }

    /// A type with a name: kind 0 class, 1 struct or enum, 2 interface.
    pub fn named(&mut self, kind: u8, arity: u8, name: &str) -> TypeId {
        self.types.push([b'N', kind, arity]);
        push_text(&mut self.types, name);
        self.add_type()
    }

    pub fn generic(&mut self, definition: TypeId, arguments: &[TypeId]) -> TypeId {
        self.types.push(b"G");
        self.types.add(definition.0);
        self.types.push([arguments.len() as u8]);
        self.types.all(arguments.iter().map(|argument| argument.0));
        self.add_type()
    }

    pub fn array(&mut self, element: TypeId, rank: u8) -> TypeId {
        self.types.push(b"A");
        self.types.add(element.0);
        self.types.push([rank]);
        self.add_type()
    }

    /// A class or struct. `size` is written where the flags have 0x10, and the places of the members with it.
    pub fn composite(&mut self, ty: TypeId, flags: u8, size: i32, members: &[MemberSpec<'_>]) -> ModelId {
        let id = self.add_model(b'C', ty);
        self.models.push([flags]);
        if flags & 0x10 != 0 {
            self.models.add(size);
        }
        self.models.add(members.len() as u16);
        for member in members {
            push_text(&mut self.models, member.name);
            self.models.add(member.prefix);
            if flags & 0x10 != 0 {
                self.models.add(member.offset);
            }
            self.models.add(member.model.0);
        }
        id
    }

    pub fn dictionary(&mut self, ty: TypeId, key: ModelId, value: ModelId) -> ModelId {
        let id = self.add_model(b'D', ty);
        self.models.all([key.0, value.0]);
        id
    }

    /// A list, array or set.
    pub fn list(&mut self, ty: TypeId, element: ModelId) -> ModelId {
        let id = self.add_model(b'L', ty);
        self.models.add(element.0);
        id
    }

    /// A type stored as another, an enum, or an interface (target 0). `size` is written where the flags have 0x10.
    pub fn proxy(&mut self, ty: TypeId, flags: u8, target: ModelId, size: i32) -> ModelId {
        let id = self.add_model(b'T', ty);
        self.models.push([flags]);
        self.models.add(target.0);
        if flags & 0x10 != 0 {
            self.models.add(size);
        }
        id
    }

    /// A type of the sample's game.
    fn sample(&mut self, kind: u8, name: &str) -> TypeId {
        self.named(kind, 0, &format!("Sample:Sample.World.{name}"))
    }

    pub(super) fn list_of(&mut self, element: TypeId, model: ModelId) -> ModelId {
        let ty = self.generic(builtin::LIST, &[element]);
        self.list(ty, model)
    }

    fn array_of(&mut self, element: TypeId, model: ModelId) -> ModelId {
        let ty = self.array(element, 1);
        self.list(ty, model)
    }

    pub(super) fn dictionary_of(&mut self, types: [TypeId; 2], key: ModelId, value: ModelId) -> ModelId {
        let ty = self.generic(builtin::DICTIONARY, &types);
        self.dictionary(ty, key, value)
    }

    pub fn table(&self) -> Vec<u8> {
        let counts = bytes([self.type_count, self.model_count]);
        [&counts, self.types.bytes(), self.models.bytes()].concat()
    }
}

/// A string of a table.
fn push_text(out: &mut Writer, text: &str) {
    out.add(text.encode_utf16().count() as u32 * 2);
    out.all(text.encode_utf16());
}

/// Builds the bytes of values (§5).
#[derive(Debug, Default, Clone)]
pub struct ValuesBuilder {
    out: Writer,
}

impl ValuesBuilder {
    pub fn new() -> Self {
        Self::default()
    }

    /// The prefix of a value that is there.
    pub fn present(&mut self) -> &mut Self {
        self.bytes([0x00])
    }

    /// The prefix of one that is not; also a count, model or type index that is null.
    pub fn null(&mut self) -> &mut Self {
        self.bytes([0xFF])
    }

    /// A count, or a model or type index: a byte 0 and 24 bits.
    pub fn count(&mut self, value: u32) -> &mut Self {
        let [a, b, c, _] = value.to_le_bytes();
        self.bytes([0, a, b, c])
    }

    pub fn string(&mut self, text: &str) -> &mut Self {
        self.present();
        push_text(&mut self.out, text);
        self
    }

    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.bytes([u8::from(value)])
    }

    pub fn i32(&mut self, value: i32) -> &mut Self {
        self.number(value)
    }

    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.number(value)
    }

    pub fn f32(&mut self, value: f32) -> &mut Self {
        self.number(value)
    }

    /// A number of any width.
    pub fn number(&mut self, value: impl Number) -> &mut Self {
        self.out.add(value);
        self
    }

    pub fn guid(&mut self, value: Guid) -> &mut Self {
        self.bytes(value.0)
    }

    /// Any bytes: images, and values that are wrong on purpose.
    pub fn bytes(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.out.push(bytes);
        self
    }

    pub fn position(&self) -> usize {
        self.out.position()
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.out.into_bytes()
    }
}

#[derive(Debug, Clone)]
pub struct ChunkSpec {
    /// The chunk's name; the name of the main chunk is not written.
    pub name: String,
    /// The number of the model of its value.
    pub root: i32,
    pub codec: Codec,
    pub data: Vec<u8>,
}

#[derive(Debug, Clone)]
pub struct ArchiveBuilder {
    pub bundles: Vec<(String, [i32; 4])>,
    pub types: Vec<u8>,
    /// The main chunk and the other chunks.
    pub chunks: Vec<ChunkSpec>,
    pub tables: Codec,
}

impl ArchiveBuilder {
    /// An archive with these types and this main chunk.
    pub fn new(types: &TypesBuilder, root: ModelId, codec: Codec, data: Vec<u8>) -> Self {
        let main = ChunkSpec { name: assetq_vrage::vrb::MAIN.into(), root: root.0 as i32, codec, data };
        let bundles = vec![("System.Runtime".into(), [1, 0, 0, 0]), ("VRage".into(), [2, 0, 2, 29])];
        Self { bundles, types: types.table(), chunks: vec![main], tables: Codec::Brotli }
    }

    #[must_use]
    pub fn chunk(mut self, name: &str, root: ModelId, codec: Codec, data: Vec<u8>) -> Self {
        self.chunks.push(ChunkSpec { name: name.into(), root: root.0 as i32, codec, data });
        self
    }

    /// The file: header, main chunk, bundle table, type table as the game writes them; then the chunk table and the
    /// other chunks, whose position no known file shows.
    pub fn build(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.zeros(size_of::<ArchiveHeader>());
        let (main, extra) = self.chunks.split_first().expect("a main chunk");
        let main_entry = push_part(&mut out, main.codec, &main.data);

        let mut bundles = Writer::new();
        for (name, version) in &self.bundles {
            push_text(&mut bundles, name);
            bundles.all(version);
        }
        let bundle_entry = push_part(&mut out, self.tables, bundles.bytes());
        let type_entry = push_part(&mut out, self.tables, &self.types);

        let mut chunk_entry = vec![0; 36];
        if !extra.is_empty() {
            let mut table = Writer::new();
            for chunk in extra {
                let entry = push_part(&mut out, chunk.codec, &chunk.data);
                push_text(&mut table, &chunk.name);
                table.push(entry);
                table.add(chunk.root);
            }
            chunk_entry = push_part(&mut out, self.tables, table.bytes());
        }

        let mut header = Writer::new();
        header.all([MAGIC, VERSION, 0, 0]);
        header.push([bundle_entry, type_entry, chunk_entry].concat());
        header.all([self.bundles.len() as i32, extra.len() as i32]);
        header.push(main_entry);
        header.add(main.root);
        header.zeros(20);
        out.patch(0, header.bytes());
        let mut file = out.into_bytes();
        seal(&mut file);
        file
    }
}

/// Appends `data` as a codec stores it, and returns its entry.
fn push_part(out: &mut Writer, codec: Codec, data: &[u8]) -> Vec<u8> {
    let stored = codec.encode(data);
    let at = out.push(&stored);
    let mut entry = Writer::new();
    entry.all([at as u64, xxh64(&stored, MAGIC.into()), stored.len() as u64, data.len() as u64]);
    entry.push([codec.number(), 0, 0, 0]);
    entry.into_bytes()
}

/// A hostile archive: `count` chunks that take about a thousandth of the `size` bytes that each of them becomes, a
/// string of zeros.
pub fn bombs(count: usize, size: usize) -> Vec<u8> {
    let mut data = ValuesBuilder::new();
    data.present().i32(size as i32).bytes(vec![0; size]);
    let main = ArchiveBuilder::new(&TypesBuilder::new(), builtin::BYTE, Codec::None, vec![7]);
    let data = data.into_bytes();
    (0..count).fold(main, |b, i| b.chunk(&format!("C{i}"), builtin::STRING, Codec::Zlib, data.clone())).build()
}

/// Writes the checksum of the header that `file` begins with, after a change to it.
pub fn seal(file: &mut [u8]) {
    file[8..16].fill(0);
    let sum = xxh64(&file[..size_of::<ArchiveHeader>()], MAGIC.into());
    file[8..16].copy_from_slice(&sum.to_le_bytes());
}

/// The models of a [`world`].
#[derive(Debug, Clone)]
pub struct World {
    pub types: TypesBuilder,
    /// The class that the main chunk holds.
    pub world: ModelId,
    /// A list of the class `Entity`.
    pub entities: ModelId,
    /// The class `Mesh`: arrays of vectors and of indices.
    pub mesh: ModelId,
    /// Types that values of `System.Type` name.
    pub kinds: [TypeId; 3],
    /// `Dictionary<String, Int32>`, the actual type of a polymorphic member.
    pub counters: ModelId,
    /// A class that is the actual type of a polymorphic member.
    pub note: ModelId,
}

/// Types and models of a made-up game world with every kind of value that can be read.
pub fn world() -> World {
    use builtin::*;
    let mut t = TypesBuilder::new();

    // The root comes first in both spaces; its members name models that are added below it, in this order.
    let world_type = t.sample(0, "World");
    let world = t.next_model();
    let [mode, level, vector, bounds, handle, typed_handle, maybe_handle, maybe_typed] =
        std::array::from_fn(|n| ModelId(world.0 + 1 + n as u32));
    let [maybe_tile, tile, tags, entity, entities, by_name, by_id, marker] =
        std::array::from_fn(|n| ModelId(world.0 + 9 + n as u32));
    let [any, counters, note, bytes, mesh, vectors, indices, unit, end] =
        std::array::from_fn(|n| ModelId(world.0 + 17 + n as u32));
    let before = members! {
        Name: STRING, Subtitle: STRING, Seed: UINT64, Created: INT64, Version: INT16, Port: UINT16, Players: UINT32,
        Time: DOUBLE, Paused: BOOLEAN, Mode: mode, Level: level, Bounds: bounds, Handle: handle,
        MaybeHandle: maybe_handle, MaybeTyped: maybe_typed, NoTyped: maybe_typed, Tile: maybe_tile, NoTile: maybe_tile,
        Owner: TYPE, NoOwner: TYPE, Sets: by_name, ById: by_id,
    };
    let polymorphic = ["Counters", "Note", "Nothing"].map(|name| polymorphic(name, any));
    let after = members! { Unit: unit, Icon: bytes, NoIcon: bytes, Entities: entities };
    t.composite(world_type, flags::CLASS, 0, &[&before[..], &polymorphic, &after].concat());
    let ty = t.sample(1, "Mode");
    t.proxy(ty, flags::ENUM, INT32, 4);
    let ty = t.sample(1, "Level");
    t.proxy(ty, flags::ENUM, BYTE, 1);
    let vector_type = t.named(1, 0, "VRage:Keen.VRage.Library.Mathematics.Vector3");
    let axes = [placed("X", SINGLE, 0), placed("Y", SINGLE, 4), placed("Z", SINGLE, 8)];
    t.composite(vector_type, flags::IMAGE, 12, &axes);
    let ty = t.sample(1, "Bounds");
    // Three bytes of padding after the flag.
    let members = [placed("Min", vector, 0), placed("Solid", BOOLEAN, 12), placed("Max", vector, 16)];
    t.composite(ty, flags::IMAGE, 28, &members);
    let [handle_type, typed_type] = add_handles(&mut t, vector_type, handle, typed_handle);
    let tile_type = t.sample(1, "Tile");
    let ty = t.generic(NULLABLE, &[tile_type]);
    let tile_members = members! { X: INT32, Y: INT32, Label: STRING };
    t.composite(ty, flags::STRUCT, 0, &tile_members);
    t.composite(tile_type, flags::STRUCT, 0, &tile_members);
    t.list_of(handle_type, handle);
    let entity_type = t.sample(0, "Entity");
    let members = members! {
        Id: GUID, Kind: TYPE, Name: STRING, Position: vector, Health: SINGLE, Mass: INT32, Level: level, Tags: tags,
        Child: entity,
    };
    t.composite(entity_type, flags::CLASS, 0, &members);
    t.list_of(entity_type, entity);
    t.dictionary_of([type_of(STRING), tile_type], STRING, tile);
    let marker_type = t.sample(1, "Marker");
    t.dictionary_of([type_of(GUID), marker_type], GUID, marker);
    t.composite(marker_type, flags::PLAIN, 0, &members! { Guid: GUID, Level: level });
    let ty = t.sample(2, "IAnything");
    t.proxy(ty, flags::INTERFACE, ModelId(0), 0);
    t.dictionary_of([type_of(STRING), type_of(INT32)], STRING, INT32);
    let note_type = t.sample(0, "Note");
    t.composite(note_type, flags::CLASS, 0, &members! { Text: STRING });
    t.array_of(type_of(BYTE), BYTE);
    let ty = t.sample(0, "Mesh");
    t.composite(ty, flags::CLASS, 0, &members! { Name: STRING, Vertices: vectors, Indices: indices });
    t.array_of(vector_type, vector);
    t.array_of(type_of(INT32), INT32);
    let ty = t.sample(1, "Unit");
    t.composite(ty, flags::IMAGE, 1, &[]);
    assert_eq!(t.next_model(), end);
    World { types: t, world, entities, mesh, kinds: [entity_type, note_type, typed_type], counters, note }
}

/// Handles of resources, of any type and of one, and the same as values that may be absent.
fn add_handles(t: &mut TypesBuilder, vector_type: TypeId, handle: ModelId, typed_handle: ModelId) -> [TypeId; 2] {
    use builtin::{NULLABLE, STRING};
    let handle_type = t.named(1, 0, "VRage:Keen.VRage.Library.Utils.ResourceHandle");
    t.proxy(handle_type, flags::PLAIN, STRING, 0);
    let open = t.named(1, 1, "VRage:Keen.VRage.Library.Utils.ResourceHandle`1");
    let typed_type = t.generic(open, &[vector_type]);
    t.proxy(typed_type, flags::PLAIN, handle, 0);
    let ty = t.generic(NULLABLE, &[handle_type]);
    t.proxy(ty, flags::PLAIN, STRING, 0);
    let ty = t.generic(NULLABLE, &[typed_type]);
    t.proxy(ty, flags::PLAIN, typed_handle, 0);
    [handle_type, typed_type]
}

fn random_guid(rng: &mut Rng) -> Guid {
    Guid(rng.u128(..).to_le_bytes())
}

/// One `Entity` of a [`world`], with up to `children` more in it.
fn push_entity(out: &mut ValuesBuilder, world: &World, rng: &mut Rng, number: usize, children: usize) {
    let names = ["Battery", "Cargo", "Drill", "Gyroscope", "Reactor", "Thruster", "Überladen", "舰桥"];
    out.present().guid(random_guid(rng)).count(world.kinds[rng.usize(..3)].0);
    out.string(&format!("{} {number}", names[rng.usize(..names.len())]));
    for _ in 0..3 {
        out.f32((rng.f32() * 2000.0 - 1000.0).round() / 8.0);
    }
    out.f32(f32::from(rng.u8(..)) / 2.0).i32(rng.i32(0..100_000)).bytes([rng.u8(..5)]);
    let tags = rng.u32(..3);
    out.count(tags);
    for _ in 0..tags {
        out.string(&format!("tag_{}", rng.u8(..20)));
    }
    if children == 0 {
        out.null();
    } else {
        push_entity(out, world, rng, number, children - 1);
    }
}

/// The bytes of a list of `count` entities.
pub fn entities(world: &World, seed: u64, count: usize) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed);
    let mut out = ValuesBuilder::new();
    push_entities(&mut out, world, &mut rng, count);
    out.into_bytes()
}

fn push_entities(out: &mut ValuesBuilder, world: &World, rng: &mut Rng, count: usize) {
    out.count(count as u32);
    (0..count).for_each(|i| push_entity(out, world, rng, i, if i % 16 == 0 { 2 } else { 0 }));
}

/// The bytes of a mesh with `vertices` vertices and six indices for each.
pub fn mesh(seed: u64, vertices: usize) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed);
    let mut out = ValuesBuilder::new();
    out.present().string("Hull").count(vertices as u32);
    for _ in 0..vertices {
        for _ in 0..3 {
            out.f32(f32::from(rng.i16(..)) / 64.0);
        }
    }
    out.count(vertices as u32 * 6);
    for i in 0..vertices * 6 {
        out.i32(((i / 6 + rng.usize(..8)) % vertices.max(1)) as i32);
    }
    out.into_bytes()
}

/// The bytes of a `World` of a [`world`] with `count` entities.
pub fn world_values(world: &World, seed: u64, count: usize) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed);
    let mut v = ValuesBuilder::new();
    v.present().string("Verdure").null().u64(seed).u64(638_000_000_000_000_000);
    v.number(-3i16).number(27_016u16).number(4_000_000_000u32).number(0.1f64).bool(true).i32(-1).bytes([4]);
    v.f32(-1.5).f32(0.0).f32(f32::NAN).bytes([1, 0xAA, 0xBB, 0xCC]).f32(1.5).f32(2.5).f32(f32::INFINITY);
    // Handle, MaybeHandle, MaybeTyped with both of its prefixes, NoTyped.
    v.string("{G}7e9ebc0b-f48a-4f33-9a2e-8d54ea2603a0").null();
    v.present().string("mesh").null();
    // Tile, NoTile, Owner, NoOwner.
    v.present().i32(7).i32(-8).string("tile \"seven\"").null();
    v.count(world.kinds[2].0).null();
    v.count(2).string("North.Pole").i32(1).i32(2).null().string("South").i32(3).i32(4).string("");
    v.count(3);
    for _ in 0..3 {
        let id = random_guid(&mut rng);
        v.guid(id).guid(id).bytes([rng.u8(..5)]);
    }
    v.count(world.counters.0).count(2).string("jumps").i32(12).string("drops").i32(-1);
    v.count(world.note.0).present().string("a note");
    v.null();
    // Unit, Icon, NoIcon.
    v.bytes([0x5A]).count(4).bytes([137, 80, 78, 71]).null();
    push_entities(&mut v, world, &mut rng, count);
    v.into_bytes()
}

/// A believable archive: a world, and chunks of each codec.
pub fn demo(seed: u64, size: Size) -> Vec<u8> {
    let world = world();
    let (count, vertices) = size.pick((12, 20), (120_000, 60_000));
    let main = world_values(&world, seed, count);
    ArchiveBuilder::new(&world.types, world.world, Codec::Brotli, main)
        .chunk("Vertex_0", world.mesh, Codec::None, mesh(seed, vertices))
        .chunk("Vertex_1", world.mesh, Codec::Zlib, mesh(seed ^ 1, vertices))
        .chunk("Entities", world.entities, Codec::Deflate, entities(&world, seed, count))
        .build()
}
