use crate::bwdb::record::{Flag, NotLaidOut, ResourceRef, Text, prototype, unions};

prototype! { 'a
    /// EffectPrototype: particle systems that are shown together.
    Effect = 0x10 as "EffectPrototype" in effects {
        /// Seconds for which it emits at most.
        max_emitting_duration: f32 @ 0x00,
        system_count: u32 @ 0x04,
        systems: [System<'a>; system_count] @ 0x08,
    }

    /// A particle system.
    System = 0x1C8 in effect_systems, unused 0x1BC..0x1C0 {
        /// How particles look.
        renderer: Renderer<'a> @ 0x000,
        /// How particles come into being.
        emitter: Emitter<'a> @ 0x0A0,
        /// How the texture changes.
        animation: Animation<'a> @ 0x130,
        /// Bounds and coordinates.
        general: General<'a> @ 0x170,
        distance: Distance<'a> @ 0x188,
        name: Text<'a> @ 0x198,
        intensities: Intensities<'a> @ 0x1A8,
        component_count: i32 @ 0x1B8,
        /// Actions on the particles.
        components: [Component<'a>; component_count] @ 0x1C0,
    }

    /// How the particles of a system look.
    Renderer = 0xA0, unused 0x9E..0xA0 {
        texture: Text<'a> @ 0x00,
        second_texture: Text<'a> @ 0x10,
        yaw_rate: Ramp<'a> @ 0x20,
        orientation: [f32; 3] @ 0x30,
        custom_center: [f32; 2] @ 0x3C,
        spin_rate_range: f32 @ 0x44,
        spin_rate_base: f32 @ 0x48,
        shineness: f32 @ 0x4C,
        initial_orientation_range: f32 @ 0x50,
        ambient: f32 @ 0x54,
        initial_orientation_base: f32 @ 0x58,
        hide_start_cos: f32 @ 0x5C,
        scale_x: f32 @ 0x60,
        diffuse: f32 @ 0x64,
        transmission: f32 @ 0x68,
        light_wrap: f32 @ 0x6C,
        shadows: f32 @ 0x70,
        opacity: f32 @ 0x74,
        hide_speed: f32 @ 0x78,
        soft_depth: f32 @ 0x7C,
        /// 0 bottom, 1 corner, 2 center, 3 custom.
        rotation_center: i32 @ 0x80,
        /// 0 lambert, 1 four-way, 2 HL2.
        lighting: i32 @ 0x84,
        /// 0 blended water surface, 1 deform water surface, 2 additive, 3 blended underwater, 4 additive water
        /// surface, 5 underwater gradient map, 6 blended glow, 7 gradient map, 8 shimmer, 9 blended.
        blend: i32 @ 0x88,
        sort: i32 @ 0x8C,
        tiling_x: f32 @ 0x90,
        tiling_y: f32 @ 0x94,
        orientation_local: Flag @ 0x98,
        billboard: Flag @ 0x99,
        velocity_oriented: Flag @ 0x9A,
        background: Flag @ 0x9B,
        flip_x: Flag @ 0x9C,
        flip_y: Flag @ 0x9D,
    }

    /// How the particles of a system come into being.
    Emitter = 0x90, unused 0x8D..0x90 {
        rate: Scalar<'a> @ 0x00,
        initial_position: Volumes<'a> @ 0x10,
        initial_velocity: Volumes<'a> @ 0x20,
        size: Scalar<'a> @ 0x30,
        age_scale: Scalar<'a> @ 0x40,
        age_scale_aux: Scalar<'a> @ 0x50,
        delay: Scalar<'a> @ 0x60,
        sleep_period: Scalar<'a> @ 0x70,
        active_period: f32 @ 0x80,
        inherit_velocity: f32 @ 0x84,
        distribution_strength: f32 @ 0x88,
        snap_to_sea: Flag @ 0x8C,
    }

    /// How the texture of a system's particles changes. The types of the counts follow from their names; no reader
    /// states them.
    Animation = 0x40, unused 0x3E..0x40 {
        frame_rate: Ramp<'a> @ 0x00,
        motion_texture: Text<'a> @ 0x10,
        frames_y: u32 @ 0x20,
        frames_x: u32 @ 0x24,
        begin: u32 @ 0x28,
        end: u32 @ 0x2C,
        period: f32 @ 0x30,
        distortion: f32 @ 0x34,
        /// 0 none, 1 frames, 2 motion vectors.
        kind: i32 @ 0x38,
        random_frame: Flag @ 0x3C,
        emission_alpha_from_motion_vectors: Flag @ 0x3D,
    }

    /// Bounds and coordinates of a system.
    General = 0x18, unused 0x16..0x18 {
        /// The most particles at once.
        capacity: u32 @ 0x00,
        /// The most instances at once.
        max_instances: u32 @ 0x04,
        /// Seconds that a particle lives at most.
        max_age: f32 @ 0x08,
        camera_attach: f32 @ 0x0C,
        coord_style: i32 @ 0x10,
        reflection: Flag @ 0x14,
        prewarm: Flag @ 0x15,
    }

    /// Values that change with the distance to the camera.
    Distance = 0x10 {
        /// The distance in metres.
        max_distance: f32 @ 0x00,
        config_count: u32 @ 0x04,
        configs: [IntensityConfig<'a>; config_count] @ 0x08,
    }

    /// Values that change with the intensity of an effect, channel by channel.
    Intensities = 0x10, unused 0x04..0x08 {
        channel_count: u32 @ 0x00,
        channels: [IntensityChannel<'a>; channel_count] @ 0x08,
    }

    IntensityChannel = 0x10, unused 0x04..0x08 {
        config_count: u32 @ 0x00,
        configs: [IntensityConfig<'a>; config_count] @ 0x08,
    }

    /// A ramp and the parameters that it scales.
    IntensityConfig = 0x20, unused 0x14..0x18 {
        ramp: Ramp<'a> @ 0x00,
        flag_count: u32 @ 0x10,
        /// Ids 0 to 25 of the scaled parameters.
        flags: [u32; flag_count] @ 0x18,
    }

    /// Value over time.
    Ramp = 0x10, unused 0x04..0x08 {
        count: u32 @ 0x00,
        /// Value and time of each key, in this order.
        keys: [[f32; 2]; count] @ 0x08,
    }

    /// Colour over time.
    ColorRamp = 0x10, unused 0x04..0x08 {
        count: u32 @ 0x00,
        /// The keys, time last.
        keys: [ColorKey<'a>; count] @ 0x08,
    }

    /// A colour at a time.
    ColorKey = 0x14 {
        color: [f32; 4] @ 0x00,
        time: f32 @ 0x10,
    }

    /// A scalar between two values.
    Linear = 0x08 {
        from: f32 @ 0x00,
        to: f32 @ 0x04,
    }

    /// A scalar that does not change.
    Constant = 0x04 {
        value: f32 @ 0x00,
    }

    /// A scalar that follows a ramp.
    ScalarRamp = 0x18 {
        ramp: Ramp<'a> @ 0x00,
        /// 0 system age, 1 particle age, 2 system velocity, 3 particle velocity, 4 system active time, 5 particle index.
        parameter: u32 @ 0x10,
        /// 0 loop, 1 ping-pong, 2 once.
        sampling: u32 @ 0x14,
    }

    /// A box from which positions or velocities are drawn.
    BoxVolume = 0x18 {
        first: [f32; 3] @ 0x00,
        second: [f32; 3] @ 0x0C,
    }

    /// A single position or velocity.
    PointVolume = 0x0C {
        point: [f32; 3] @ 0x00,
    }

    /// A hollow cylinder.
    CylinderVolume = 0x40 {
        origin: [f32; 3] @ 0x00,
        max_radius: f32 @ 0x0C,
        u: [f32; 3] @ 0x10,
        min_radius: f32 @ 0x1C,
        v: [f32; 3] @ 0x20,
        difference: [f32; 3] @ 0x2C,
        scale: [f32; 2] @ 0x38,
    }

    /// A hollow sphere.
    SphereVolume = 0x14 {
        center: [f32; 3] @ 0x00,
        min_radius: f32 @ 0x0C,
        max_radius: f32 @ 0x10,
    }

    LineVolume = 0x18 {
        start: [f32; 3] @ 0x00,
        end: [f32; 3] @ 0x0C,
    }

    /// Slows particles.
    Dampfer = 0x14 { factor: Scalar<'a> @ 0x00, delay: f32 @ 0x10, }
    /// Spawns systems from particles.
    Spawner = 0x20 { rate: Ramp<'a> @ 0x00, resource: ResourceRef<'a> @ 0x10, }
    /// A wind.
    Stream = 0x18, unused 0x15..0x18 {
        vector: [f32; 3] @ 0x00, delay: f32 @ 0x0C, half_life: f32 @ 0x10, switch_coord: Flag @ 0x14,
    }
    /// Shakes particles.
    Jitter = 0x28, unused 0x26..0x28 {
        velocity: Volumes<'a> @ 0x00, position: Volumes<'a> @ 0x10, delay: f32 @ 0x20,
        affect_position: Flag @ 0x24, affect_velocity: Flag @ 0x25,
    }
    /// Accelerates particles.
    Force = 0x34 { x: Scalar<'a> @ 0x00, y: Scalar<'a> @ 0x10, z: Scalar<'a> @ 0x20, delay: f32 @ 0x30, }
    /// Changes the size over the age.
    Resizer = 0x0C { tag: i32 @ 0x00, from: f32 @ 0x04, to: f32 @ 0x08, }
    /// Turns particles around an axis.
    Orbitor = 0x30, unused 0x2E..0x30 {
        velocity: Scalar<'a> @ 0x00, point: [f32; 3] @ 0x10, axis: [f32; 3] @ 0x1C, delay: f32 @ 0x28,
        flag_2c: Flag @ 0x2C, flag_2d: Flag @ 0x2D,
    }
    /// Changes the size.
    Scaler = 0x24 { size: Scalar<'a> @ 0x00, scale_x: Scalar<'a> @ 0x10, delay: f32 @ 0x20, }
    /// Changes the colour.
    Tint = 0x1C, unused 0x1A..0x1C {
        ramp: ColorRamp<'a> @ 0x00, delay: f32 @ 0x10, period: f32 @ 0x14, repeat: Flag @ 0x18,
        use_velocity: Flag @ 0x19,
    }
    /// Collides particles with a plane.
    Plane = 0x34, unused 0x21..0x24, 0x31..0x34 {
        resource: ResourceRef<'a> @ 0x00, equation: [f32; 4] @ 0x10, reaction: u8 @ 0x20, strength: f32 @ 0x24,
        stop_age: f32 @ 0x28, delay: f32 @ 0x2C, world_space: Flag @ 0x30,
    }
    /// Collides particles with a sphere or a cylinder.
    Round = 0x30, unused 0x1D..0x20 {
        resource: ResourceRef<'a> @ 0x00, position: [f32; 3] @ 0x10, reaction: u8 @ 0x1C, strength: f32 @ 0x20,
        stop_age: f32 @ 0x24, delay: f32 @ 0x28, radius: f32 @ 0x2C,
    }
    /// Changes the opacity.
    AlphaSetter = 0x14 { ramp: Ramp<'a> @ 0x00, delay: f32 @ 0x10, }
    /// Draws particles to a point.
    Magnet = 0x18 { point: [f32; 3] @ 0x00, delay: f32 @ 0x0C, min_distance: f32 @ 0x10, strength: f32 @ 0x14, }
    /// Moves particles through a velocity field.
    FieldAction = 0x38 {
        first: [f32; 3] @ 0x00, second: [f32; 3] @ 0x0C, stop_age: f32 @ 0x18, delay: f32 @ 0x1C,
        velocity_scale: f32 @ 0x20, influence: f32 @ 0x24, resource: ResourceRef<'a> @ 0x28,
    }
    /// Collides particles with a box.
    BoxAction = 0x38, unused 0x31..0x34 {
        resource: ResourceRef<'a> @ 0x00, first: [f32; 3] @ 0x10, second: [f32; 3] @ 0x1C, strength: f32 @ 0x28,
        stop_age: f32 @ 0x2C, reaction: u8 @ 0x30, delay: f32 @ 0x34,
    }
    /// Creates particles.
    Creator = 0x44, unused 0x43..0x44 {
        rate: Ramp<'a> @ 0x00, position: Volumes<'a> @ 0x10, velocity: Volumes<'a> @ 0x20, vector_30: [f32; 2] @ 0x30,
        velocity_inheritance: f32 @ 0x38, min_random_rate: i32 @ 0x3C, repeated: Flag @ 0x40, smooth: Flag @ 0x41,
        world: Flag @ 0x42,
    }

    /// Shapes from which positions or velocities are drawn together.
    Volumes = 0x10 {
        /// Not named by any reader.
        unknown_00: u32 @ 0x00,
        count: u32 @ 0x04,
        shapes: [Volume<'a>; count] @ 0x08,
    }

    /// A light among the components of a system. Its body begins as the bodies of actions do.
    SystemLight = 0x10, unused 0x04..0x08 {
        /// The kind, as in actions; no reader uses the kind of a light.
        kind: i32 @ 0x00,
        value: [super::PointLight<'a>] @ 0x08,
    }
}

unions! { 'a
    /// A scalar that may change over time.
    Scalar {
        0 => "linear" Linear<'a>,
        1 => "constant" Constant<'a>,
        2 => "ramp" ScalarRamp<'a>,
    }

    /// A shape from which positions or velocities are drawn.
    Volume {
        0 => "box" BoxVolume<'a>,
        1 => "point" PointVolume<'a>,
        2 => "cylinder" CylinderVolume<'a>,
        3 => "sphere" SphereVolume<'a>,
        4 => "line" LineVolume<'a>,
    }

    /// Something that acts on the particles of a system.
    Component {
        0 => "particle" ParticleAction<'a>,
        1 => "light" SystemLight<'a>,
        2 => "decal" NotLaidOut,
        3 => "system" SystemAction<'a>,
    }

    /// Actions on each particle ("PCAT").
    ParticleAction {
        0 => "dampfer" Dampfer<'a>,
        1 => "stream" Stream<'a>,
        2 => "jitter" Jitter<'a>,
        3 => "force" Force<'a>,
        4 => "resizer" Resizer<'a>,
        5 => "orbitor" Orbitor<'a>,
        6 => "scaler" Scaler<'a>,
        7 => "tint" Tint<'a>,
        8 => "cylinder" Round<'a>,
        9 => "alphaSetter" AlphaSetter<'a>,
        10 => "sphere" Round<'a>,
        11 => "magnet" Magnet<'a>,
        12 => "velocityField" FieldAction<'a>,
        13 => "box" BoxAction<'a>,
    }

    /// Actions on the whole system ("PSAT").
    SystemAction {
        0 => "dampfer" Dampfer<'a>,
        1 => "spawner" Spawner<'a>,
        2 => "stream" Stream<'a>,
        3 => "jitter" Jitter<'a>,
        4 => "force" Force<'a>,
        5 => "plane" Plane<'a>,
        6 => "cylinder" Round<'a>,
        7 => "orbitor" Orbitor<'a>,
        8 => "sphere" Round<'a>,
        9 => "magnet" Magnet<'a>,
        10 => "velocityField" FieldAction<'a>,
        11 => "box" BoxAction<'a>,
        12 => "creator" Creator<'a>,
    }
}
