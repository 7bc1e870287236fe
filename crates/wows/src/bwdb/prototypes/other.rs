use crate::bwdb::record::{PathId, Text, prototype};

prototype! { 'a
    /// VelocityFieldPrototype: a grid of vectors.
    VelocityField = 0x18 as "VelocityFieldPrototype" in velocity_fields {
        dim_x: u32 @ 0x00,
        dim_y: u32 @ 0x04,
        dim_z: u32 @ 0x08,
        /// Number of components: three for each vector.
        component_count: u32 @ 0x0C,
        /// The components, three for each cell.
        components: [i16; component_count] @ 0x10,
    }

    /// EffectPresetPrototype: which effect is shown at which quality.
    EffectPreset = 0x10 as "EffectPresetPrototype" in effect_presets {
        /// The effect for high settings, `….xml/high`.
        high: PathId @ 0x00,
        /// The effect for low settings, `….xml/low`.
        low: PathId @ 0x08,
    }

    /// EffectMetadataPrototype: the parameters of an effect.
    EffectMetadata = 0x10 as "EffectMetadataPrototype" in effect_metadata, unused 0x04..0x08 {
        count: u32 @ 0x00,
        entries: [EffectParameter<'a>; count] @ 0x08,
    }

    EffectParameter = 0x20 in effect_parameters {
        name: Text<'a> @ 0x00,
        min: f32 @ 0x10,
        max: f32 @ 0x14,
        /// Value when none is given.
        default: f32 @ 0x18,
        /// Not named by any reader.
        unknown_1c: u32 @ 0x1C,
    }

    /// AtlasContourProto: an outline for each frame of an atlas.
    AtlasContour = 0x10 as "AtlasContourProto" in atlas_contours, unused 0x04..0x08 {
        count: i32 @ 0x00,
        frames: [Contour<'a>; count] @ 0x08,
    }

    /// An outline.
    Contour = 0x10, unused 0x04..0x08 {
        count: i32 @ 0x00,
        /// x and y of each point.
        points: [[f32; 2]; count] @ 0x08,
    }
}
