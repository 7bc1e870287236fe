use crate::bwdb::record::{Flag, prototype};

prototype! { 'a
    /// PointLightPrototype.
    PointLight = 0x70 as "PointLightPrototype" in point_lights, unused 0x5C..0x60, 0x6A..0x70 {
        /// Colour over time.
        color_curve: ColorCurve<'a> @ 0x00,
        /// Radius over time.
        radius_curve: RadiusCurve<'a> @ 0x20,
        /// Red, green, blue, alpha.
        color: [f32; 4] @ 0x40,
        /// Position, in the units of the space.
        position: [f32; 3] @ 0x50,
        radius: f32 @ 0x60,
        /// The lowest quality setting that shows it.
        min_quality: u32 @ 0x64,
        /// Whether the colour follows its curve.
        animated_color: Flag @ 0x68,
        /// Whether the radius follows its curve.
        animated_radius: Flag @ 0x69,
    }

    /// Colour over time.
    ColorCurve = 0x20, unused 0x05..0x10 {
        /// Length, in seconds.
        period: f32 @ 0x00,
        /// Whether it starts again at its end.
        repeated: Flag @ 0x04,
        ramp: LightColorRamp<'a> @ 0x10,
    }

    /// Radius over time.
    RadiusCurve = 0x20, unused 0x05..0x10 {
        /// Length, in seconds.
        period: f32 @ 0x00,
        /// Whether it starts again at its end.
        repeated: Flag @ 0x04,
        ramp: LightRamp<'a> @ 0x10,
    }

    /// Colour keys, time first.
    LightColorRamp = 0x10, unused 0x04..0x08 {
        count: i32 @ 0x00,
        keys: [LightColorKey<'a>; count] @ 0x08,
    }

    /// A colour at a time.
    LightColorKey = 0x14 {
        time: f32 @ 0x00,
        /// Red, green, blue, alpha.
        color: [f32; 4] @ 0x04,
    }

    /// Value keys, time first.
    LightRamp = 0x10, unused 0x04..0x08 {
        count: i32 @ 0x00,
        /// Time and value of each key.
        keys: [[f32; 2]; count] @ 0x08,
    }

    /// A point light placed in a space (`space.bin`): the fields of [`PointLight`], and its transform.
    SpaceLight = 0xC0, unused 0x40..0x50, 0xAC..0xB0, 0xBA..0xC0 {
        /// Row-major 4 x 4; the last row is the position.
        transform: [f32; 16] @ 0x00,
        color_curve: ColorCurve<'a> @ 0x50,
        radius_curve: RadiusCurve<'a> @ 0x70,
        color: [f32; 4] @ 0x90,
        position: [f32; 3] @ 0xA0,
        radius: f32 @ 0xB0,
        min_quality: u32 @ 0xB4,
        animated_color: Flag @ 0xB8,
        animated_radius: Flag @ 0xB9,
    }
}
