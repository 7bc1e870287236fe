use crate::bwdb::record::{Flag, NameId, PathId, prototype};

prototype! { 'a
    /// The nodes of a mesh, their rest positions and their parents.
    Skeleton = 0x30, unused 0x04..0x08 {
        node_count: i32 @ 0x00,
        /// Names in the order in which they are looked up.
        name_map_names: [NameId; node_count] @ 0x08,
        /// The nodes that these names belong to.
        name_map_nodes: [u16; node_count] @ 0x10,
        names: [NameId; node_count] @ 0x18,
        /// The row-major transform of each node, relative to its parent.
        matrices: [[f32; 16]; node_count] @ 0x20,
        /// The parent of each node; 0xFFFF for a root.
        parents: [u16; node_count] @ 0x28,
    }

    /// VisualPrototype: the parts of a mesh that are drawn, and how.
    Visual = 0x70 as "VisualPrototype" in visuals, unused 0x3D..0x40, 0x4C..0x50, 0x5C..0x60 {
        skeleton: Skeleton<'a> @ 0x00 in skeleton_nodes,
        /// The `.geometry` that holds its buffers.
        geometry: PathId @ 0x30,
        /// Whether it is drawn under water.
        underwater: Flag @ 0x38,
        /// Whether it is drawn above water.
        abovewater: Flag @ 0x39,
        render_set_count: u16 @ 0x3A,
        lod_count: u8 @ 0x3C,
        /// Lower corner of the bounding box, in units of the model: 15 m.
        min: [f32; 3] @ 0x40,
        /// Upper corner of the bounding box, in units of the model: 15 m.
        max: [f32; 3] @ 0x50,
        render_sets: [RenderSet<'a>; render_set_count] @ 0x60,
        /// The render sets that are drawn at each distance.
        lods: [Lod<'a>; lod_count] @ 0x68,
    }

    /// One draw group of a visual: a slice of vertices and indices with a material.
    RenderSet = 0x28 in render_sets, unused 0x1A..0x20 {
        name: NameId @ 0x00,
        material_name: NameId @ 0x04,
        /// The id of the vertex mapping in the `.geometry`.
        vertices_name: NameId @ 0x08,
        /// The id of the index mapping in the `.geometry`.
        indices_name: NameId @ 0x0C,
        /// The material, a `.mfm`.
        mfm: PathId @ 0x10,
        /// Whether the vertices follow more than one node.
        skinned: Flag @ 0x18,
        node_count: u8 @ 0x19,
        /// The nodes that the vertices follow.
        nodes: [NameId; node_count] @ 0x20,
    }

    /// One level of detail of a visual.
    Lod = 0x10 in lods, unused 0x05..0x06 {
        /// The distance up to which it is drawn, in metres.
        extent: f32 @ 0x00,
        casts_shadow: Flag @ 0x04,
        render_set_count: u16 @ 0x06,
        /// The names of the render sets that it draws.
        render_sets: [NameId; render_set_count] @ 0x08,
    }

    /// SkeletonExtenderPrototype: nodes that are added to a skeleton.
    SkeletonExtender = 0x20 as "SkeletonExtenderPrototype" in skeleton_extenders, unused 0x04..0x08 {
        /// Not named by any reader.
        flag: u16 @ 0x00,
        node_count: u16 @ 0x02,
        names: [NameId; node_count] @ 0x08,
        /// The name of each node's parent.
        parents: [NameId; node_count] @ 0x10,
        /// The row-major transform of each node, relative to its parent.
        matrices: [[f32; 16]; node_count] @ 0x18,
    }

    /// ModelPrototype: a visual and its dyes and animations.
    Model = 0x28 as "ModelPrototype" in models, unused 0x0C..0x10 {
        /// The `.visual` that the model draws.
        visual: PathId @ 0x00,
        skeleton_extender_count: u8 @ 0x08 in skeleton_extenders,
        /// 0 structural, 1 necessary, 2 optional, 3 redundant, 4 undefined: see [`misc_type_name`].
        misc_type: u8 @ 0x09,
        animation_count: u8 @ 0x0A in animations,
        dye_count: u8 @ 0x0B,
        /// Skeletons that extend its own.
        skeleton_extenders: [PathId; skeleton_extender_count] @ 0x10,
        /// The model's animations, by path as the engine's schema says.
        animations: [PathId; animation_count] @ 0x18,
        dyes: [Dye<'a>; dye_count] @ 0x20,
    }

    /// ModelPrototype as packed before skeleton extenders came: the other fields of [`Model`].
    ModelV14 = 0x20 as "ModelPrototype" in models, unused 0x0B..0x10 {
        visual: PathId @ 0x00,
        misc_type: u8 @ 0x08,
        animation_count: u8 @ 0x09 in animations,
        dye_count: u8 @ 0x0A,
        animations: [PathId; animation_count] @ 0x10,
        dyes: [Dye<'a>; dye_count] @ 0x18,
    }

    /// A material that can be replaced by tinted ones.
    Dye = 0x20 in dyes, unused 0x0C..0x10 {
        matter: NameId @ 0x00,
        /// The name of the material that it replaces.
        replaces: NameId @ 0x04,
        tint_count: u32 @ 0x08,
        tint_names: [NameId; tint_count] @ 0x10,
        /// The material of each tint, a `.mfm`.
        tint_mfms: [PathId; tint_count] @ 0x18,
    }

    /// One model of a `models.bin`: its model and visual in one record.
    MergedModel = 0xA8 {
        /// Path id of the `.model`.
        id: PathId @ 0x00 in id,
        model: Model<'a> @ 0x08,
        /// The visual that the model draws.
        visual: Visual<'a> @ 0x30,
        skeleton_index: u32 @ 0xA0 in skeleton_index,
        /// The model's first collision model in the space's `models.geometry`: in real files the boxes match.
        first_geometry: u16 @ 0xA4 in first_geometry,
        geometry_count: u16 @ 0xA6 in geometry_count,
    }
}

/// The parent of a node without one.
pub(in crate::bwdb) const NO_PARENT: u16 = 0xFFFF;

/// The name of a [`Model::misc_type`].
pub fn misc_type_name(misc_type: u8) -> Option<&'static str> {
    ["Structural", "Necessary", "Optional", "Redundant", "Undefined"].get(usize::from(misc_type)).copied()
}
