//! The structs of a `.geometry` file as they lie in it (docs/formats/geometry.md). Little-endian; pointers are relative
//! to the struct that holds them.

use super::Geometry;
use crate::bytes::le;
use crate::error::Result;
use crate::id::Id32;
use crate::packed_string::PackedString;
use crate::schema;

schema! {
    /// `MergedGeometryPrototype` (§2): counts and pointers of the six arrays, at the start of the file.
    pub struct GeometryHeader: 0x48 {
        /// `VerticesPrototype` entries.
        pub merged_vertices_count: le::U32,
        /// `IndicesPrototype` entries.
        pub merged_indices_count: le::U32,
        /// Vertex mapping entries.
        pub vertices_mapping_count: le::U32,
        /// Index mapping entries.
        pub indices_mapping_count: le::U32,
        /// Collision models.
        pub collision_model_count: le::U32,
        /// Armour models.
        pub armor_model_count: le::U32,
        /// Pointer to the vertex mapping entries.
        pub vertices_mapping: le::I64,
        /// Pointer to the index mapping entries.
        pub indices_mapping: le::I64,
        /// Pointer to the `VerticesPrototype` entries.
        pub merged_vertices: le::I64,
        /// Pointer to the `IndicesPrototype` entries.
        pub merged_indices: le::I64,
        /// Pointer to the collision models.
        pub collision_models: le::I64,
        /// Pointer to the armour models.
        pub armor_models: le::I64,
    }

    /// `VerticesPrototype` (§4.1): a merged vertex buffer.
    pub struct VerticesPrototype: 0x20 {
        /// Pointer to the blob, raw or ENCD.
        pub vertices_data: le::I64,
        /// Attributes by name, as in `set3/xyznuvtbpc`.
        pub format_name: PackedString,
        /// Bytes of the blob.
        pub size_in_bytes: le::U32,
        /// Bytes of a vertex.
        pub stride_in_bytes: le::U16,
        /// Whether vertices have bone indices and weights.
        pub is_skinned: u8,
        /// Whether vertices have tangents and binormals.
        pub is_bumped: u8,
    }

    /// `IndicesPrototype` (§5): a merged index buffer.
    pub struct IndicesPrototype: 0x10 {
        /// Pointer to the blob, raw or ENCD.
        pub indices_data: le::I64,
        /// Bytes of the blob.
        pub size_in_bytes: le::U32,
        /// Zero.
        pub reserved: le::U16,
        /// Bytes of an index: 2 or 4.
        pub index_size: le::U16,
    }

    /// `CollisionModelPrototype` and `ArmorModelPrototype` (§6.1): a named blob, in the order that real files show.
    pub struct ModelPrototype: 0x20 {
        /// Bytes of the blob.
        pub size_in_bytes: le::I64,
        /// The model's name; may be null.
        pub name: PackedString,
        /// Pointer to the blob; 0x20 if the blob follows the struct.
        pub data: le::I64,
    }

    /// The start of an armour model's blob (§6.2).
    pub struct ArmorHeader: 0x20 {
        /// [`ARMOR_TAG`].
        pub tag: le::U32,
        /// Corner of the box around all plates.
        pub min: [le::F32; 3],
        /// The opposite corner.
        pub max: [le::F32; 3],
        /// Plates that follow.
        pub plates: le::U32,
    }

    /// The start of a collision model's blob (§6.3); its hulls follow.
    pub struct CollisionHeader: 8 {
        /// [`COLLISION_TAG`].
        pub tag: le::U32,
        /// Hulls that follow.
        pub hulls: le::U32,
    }

    /// A vertex of a plate.
    pub struct ArmorVertex: 0x10 {
        /// Where it is.
        pub position: [le::F32; 3],
        /// The vertex's normal, packed.
        pub normal: [u8; 3],
        /// Zero.
        pub zero: u8,
    }

    /// `MappingEntry` (§3): the slice of a merged buffer that one render group uses.
    pub struct Mapping: 0x10 {
        /// The id by which a render set names it: a name's hash in files of one model, a running number in merged ones.
        pub mapping_id: le::U32 as Id32 => "mapping_id".brief().key().unique().writable(),
        /// The number of the merged buffer.
        pub merged_buffer_index: le::U16 => "buffer".brief().place(),
        /// Texel density in an encoding of the game's own; 0 in older files.
        pub packed_texel_density: le::U16 => "texel_density".brief().writable(),
        /// First item (vertex or index) in the merged buffer.
        pub items_offset: le::U32 => "start".brief().place(),
        /// Items.
        pub items_count: le::U32 => "count".brief(),
    }

    /// A plate of an armour model; its vertices follow.
    pub struct PlateHeader: 0x20 {
        /// Collision material.
        pub material_id: le::U16 => "material_id".brief().key().writable(),
        /// Layer, from 1.
        pub layer: le::U16 => "layer".brief().key().writable(),
        /// Corner of the box around its vertices.
        pub min: [le::F32; 3],
        /// The opposite corner.
        pub max: [le::F32; 3],
        /// Vertices, three a triangle.
        pub vertices: le::U32,
    }
}

/// An array that the header describes.
pub(super) struct ArrayField<'h> {
    /// The name of the array, in errors and as a section.
    pub part: &'static str,
    pub count: usize,
    pub pointer: &'h le::I64,
    /// Bytes of an entry.
    pub size: usize,
}

impl<'h> ArrayField<'h> {
    fn of<T>(part: &'static str, count: le::U32, pointer: &'h le::I64) -> Self {
        Self { part, count: count.get() as usize, pointer, size: size_of::<T>() }
    }
}

impl GeometryHeader {
    /// The arrays in the order of their pointers.
    pub(super) fn arrays(&self) -> [ArrayField<'_>; 6] {
        [
            ArrayField::of::<Mapping>("vertex mappings", self.vertices_mapping_count, &self.vertices_mapping),
            ArrayField::of::<Mapping>("index mappings", self.indices_mapping_count, &self.indices_mapping),
            ArrayField::of::<VerticesPrototype>("vertex buffers", self.merged_vertices_count, &self.merged_vertices),
            ArrayField::of::<IndicesPrototype>("index buffers", self.merged_indices_count, &self.merged_indices),
            ArrayField::of::<ModelPrototype>("collision models", self.collision_model_count, &self.collision_models),
            ArrayField::of::<ModelPrototype>("armor models", self.armor_model_count, &self.armor_models),
        ]
    }
}

impl Geometry {
    /// The slices of the merged vertex buffers that the render groups use.
    pub fn vertex_mappings(&self) -> Result<&[Mapping]> {
        let [array, ..] = self.header()?.arrays();
        self.array(array)
    }

    /// The slices of the merged index buffers that the render groups use.
    pub fn index_mappings(&self) -> Result<&[Mapping]> {
        let [_, array, ..] = self.header()?.arrays();
        self.array(array)
    }

    /// The structs of the merged vertex buffers.
    pub fn vertices_prototypes(&self) -> Result<&[VerticesPrototype]> {
        let [_, _, array, ..] = self.header()?.arrays();
        self.array(array)
    }

    /// The structs of the merged index buffers.
    pub fn indices_prototypes(&self) -> Result<&[IndicesPrototype]> {
        let [.., array, _, _] = self.header()?.arrays();
        self.array(array)
    }

    /// The structs of the collision models.
    pub fn collision_prototypes(&self) -> Result<&[ModelPrototype]> {
        let [.., array, _] = self.header()?.arrays();
        self.array(array)
    }

    /// The structs of the armour models.
    pub fn armor_prototypes(&self) -> Result<&[ModelPrototype]> {
        let [.., array] = self.header()?.arrays();
        self.array(array)
    }
}

/// The header of an armour blob.
pub const ARMOR_TAG: u32 = 0x8000_0001;

/// The header of a collision blob.
pub const COLLISION_TAG: u32 = 0x2402_2012;

/// A corner of a collision hull.
pub type Corner = [le::F32; 3];
/// An edge of a collision hull: two corners by number.
pub type Edge = [le::U32; 2];
