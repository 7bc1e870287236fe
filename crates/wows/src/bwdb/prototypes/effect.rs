use crate::budget::BudgetShare;
use crate::bwdb::record::Differ;
use crate::bwdb::record::{Field, FieldColumns, FieldType, Flag, HeldTexts, Leaf, Text, Walker, prototype};
use crate::bytes::{View, le};
use crate::error::Result;
use crate::table::{Kind, Value};

prototype! { 'a
    /// EffectPrototype: particle systems that are shown together.
    Effect = 0x10 {
        /// Seconds for which it emits at most.
        max_emitting_duration: f32 @ 0x00,
        /// Number of particle systems.
        system_count: u32 @ 0x04,
        /// The particle systems.
        systems: [System<'a>; system_count] @ 0x08 in effect_systems,
    }

    /// A particle system.
    System = 0x1C8, unused 0x1BC..0x1C0 {
        /// How particles look.
        renderer: Renderer<'a> @ 0x000,
        /// How particles come into being.
        emitter: Emitter<'a> @ 0x0A0,
        /// How the texture changes.
        animation: Animation<'a> @ 0x130,
        /// Bounds and coordinates.
        general: General<'a> @ 0x170,
        /// Values that change with distance.
        distance: Distance<'a> @ 0x188,
        /// The system's name.
        name: Text<'a> @ 0x198,
        /// Values that change with intensity.
        intensities: Intensities<'a> @ 0x1A8,
        /// Number of components.
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

    /// One channel of intensities.
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

    /// A line.
    LineVolume = 0x18 {
        start: [f32; 3] @ 0x00,
        end: [f32; 3] @ 0x0C,
    }

    /// Slows particles.
    Dampfer = 0x14 { factor: Scalar<'a> @ 0x00, delay: f32 @ 0x10, }
    /// Lets particles spawn systems.
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
}

/// The member of a slot that says its kind: a word of the reader's where the kind has one.
pub(in crate::bwdb) const KIND: &str = "kind";

/// The slot of a union: a kind, and a pointer to the body that the kind says. Base of the pointer: the slot.
#[derive(Debug, Clone, Copy)]
struct UnionSlot<'a> {
    view: View<'a>,
    kind: i32,
    pointer: i64,
}

impl<'a> UnionSlot<'a> {
    fn read(view: View<'a>) -> Result<Self> {
        Ok(Self { view, kind: i32::read(view)?, pointer: view.skip(8).read::<le::I64>()?.get() })
    }

    fn body<T: Field<'a>>(self) -> Result<T> {
        T::read(self.view.follow(self.pointer)?)
    }

    /// Shows the kind by name, and the body.
    fn walk_body<T: Field<'a>>(self, kind: &'static str, walker: &mut dyn Walker<'a>) {
        walker.leaf(KIND, Leaf::Value(kind.into()));
        match self.body::<T>() {
            Ok(body) => body.walk("value", walker),
            Err(error) => walker.damage("value", error),
        }
    }

    /// Whether two bodies say the same.
    fn same_body<T: Field<'a>>(self, other: Self, share: &mut BudgetShare<'_>) -> Result<bool> {
        T::same(self.view.follow(self.pointer)?, other.view.follow(other.pointer)?, share)
    }

    /// Shows the differences of two bodies.
    fn differ_body<T: Field<'a>>(self, other: Self, differ: &mut Differ<'a, '_>) {
        differ.within("value", |differ| {
            T::differ(self.view.follow(self.pointer)?, other.view.follow(other.pointer)?, differ)
        });
    }

    /// The error for a kind without a known body; -1 has no body.
    fn unknown(self) -> Result<()> {
        if self.kind == -1 { Ok(()) } else { Err(self.view.bad_value("kind without a known layout", self.kind)) }
    }

    /// Shows a kind without a body, or without a known one.
    fn walk_other(self, walker: &mut dyn Walker<'a>) {
        walker.leaf(KIND, Leaf::Value(self.kind.into()));
        if let Err(error) = self.unknown() {
            walker.damage("value", error);
        }
    }
}

macro_rules! slot_field {
    ($(#[$meta:meta])* $type:ident { $($kind:literal => $name:literal $body:ty,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        pub struct $type<'a>(UnionSlot<'a>);

        impl<'a> $type<'a> {
            /// The kind as stored; -1 for none.
            pub fn kind(&self) -> i32 {
                self.0.kind
            }
        }

        impl<'a> Field<'a> for $type<'a> {
            const SIZE: usize = 0x10;
            const TYPE: FieldType = FieldType::Struct(stringify!($type));
            const SHOWN: FieldColumns = FieldColumns::Plain(Kind::Nested);
            const REFERS: bool = false $(|| <$body as Field>::REFERS)+;
            const TEXTS: HeldTexts = HeldTexts::NONE $(.or(<$body as Field>::TEXTS))+;

            fn read(view: View<'a>) -> Result<Self> {
                UnionSlot::read(view).map(Self)
            }

            fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
                walker.begin(name);
                match self.0.kind {
                    $($kind if walker.texts_only() && !<$body as Field>::TEXTS.any() => {})+
                    $($kind => self.0.walk_body::<$body>($name, walker),)+
                    _ => self.0.walk_other(walker),
                }
                walker.end();
            }

            const FLAT: bool = false;

            fn same(old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool> {
                let (old, new) = (UnionSlot::read(old)?, UnionSlot::read(new)?);
                match old.kind {
                    kind if kind != new.kind => Ok(false),
                    $($kind => old.same_body::<$body>(new, share),)+
                    _ => old.unknown().map(|()| true),
                }
            }

            fn differ(old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()> {
                let (a, b) = (UnionSlot::read(old)?, UnionSlot::read(new)?);
                match a.kind {
                    kind if kind != b.kind => {
                        differ.afford::<Self>(old)?;
                        differ.afford::<Self>(new)?;
                        differ.whole(Some(Self(a)), Some(Self(b)));
                    }
                    $($kind => a.differ_body::<$body>(b, differ),)+
                    _ => a.unknown()?,
                }
                Ok(())
            }
        }
    };
}

slot_field! {
    /// A scalar that may change over time.
    Scalar {
        0 => "linear" Linear<'a>,
        1 => "constant" Constant<'a>,
        2 => "ramp" ScalarRamp<'a>,
    }
}

slot_field! {
    /// A shape from which positions or velocities are drawn.
    Volume {
        0 => "box" BoxVolume<'a>,
        1 => "point" PointVolume<'a>,
        2 => "cylinder" CylinderVolume<'a>,
        3 => "sphere" SphereVolume<'a>,
        4 => "line" LineVolume<'a>,
    }
}

slot_field! {
    /// Something that acts on the particles of a system.
    Component {
        0 => "particle" ParticleAction<'a>,
        1 => "light" SystemLight<'a>,
        2 => "decal" NotLaidOut,
        3 => "system" SystemAction<'a>,
    }
}

slot_field! {
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
}

slot_field! {
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

prototype! { 'a
    /// Shapes from which positions or velocities are drawn together.
    Volumes = 0x10 {
        /// Not named by any reader.
        unknown_00: u32 @ 0x00,
        count: u32 @ 0x04,
        shapes: [Volume<'a>; count] @ 0x08,
    }
}

prototype! { 'a
    /// A light among the components of a system. Its body begins as the bodies of actions do.
    SystemLight = 0x10, unused 0x04..0x08 {
        /// The kind, as in actions; no reader uses the kind of a light.
        kind: i32 @ 0x00,
        /// The light.
        value: [super::PointLight<'a>] @ 0x08,
    }
}

/// A body that exists, but that no reader lays out.
#[derive(Debug, Clone, Copy)]
pub struct NotLaidOut;

impl<'a> Field<'a> for NotLaidOut {
    const SIZE: usize = 0;
    const TYPE: FieldType = FieldType::Struct("-");
    const SHOWN: FieldColumns = FieldColumns::Plain(Kind::Any);

    fn read(_: View<'a>) -> Result<Self> {
        Ok(Self)
    }

    fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
        walker.leaf(name, Leaf::Value("layout not known".into()));
    }
}

/// A reference to a resource by name, in an action: a packed string, whose text may follow it directly. Only where it is
/// none, its first eight bytes are a pointer to a text whose length nothing states, relative to eight bytes before the
/// reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceRef<'a>(pub &'a str);

impl<'a> ResourceRef<'a> {
    /// The longest text that the form without a length may have.
    const LONGEST: usize = 1024;

    fn bytes(view: View<'a>) -> Result<&'a [u8]> {
        let error = match view.skip(4).read::<le::U32>()?.get() {
            0 => match view.packed_bytes() {
                Ok(text) => return Ok(text),
                Err(error) => error,
            },
            upper => view.skip(4).bad_value("upper half of the length of a text", upper),
        };
        // Any eight bytes lead somewhere: taken only where a text for people to read lies there.
        Self::without_length(view).ok_or(error)
    }

    fn without_length(view: View<'a>) -> Option<&'a [u8]> {
        let pointer = view.read::<le::I64>().ok()?.get().checked_sub(8)?;
        let target = view.follow(pointer).ok()?;
        let inside = view.position()..view.position().saturating_add(Self::SIZE);
        if inside.contains(&target.position()) {
            return None;
        }
        let rest = target.rest();
        let text = rest.get(..rest.len().min(Self::LONGEST))?;
        let text = text.get(..memchr::memchr(0, text)?)?;
        let printable = text.iter().all(|b| b.is_ascii_graphic() || *b == b' ');
        (printable && !text.is_empty()).then_some(text)
    }
}

impl<'a> Field<'a> for ResourceRef<'a> {
    const SIZE: usize = 0x10;
    const TYPE: FieldType = FieldType::Struct("ResourceRef");
    const SHOWN: FieldColumns = FieldColumns::Plain(Kind::Text);
    const LEAF: bool = true;
    const FLAT: bool = false;
    const REFERS: bool = true;
    const TEXTS: HeldTexts = HeldTexts::OWN;

    fn read(view: View<'a>) -> Result<Self> {
        view.utf8(Self::bytes(view)?).map(Self)
    }

    fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
        walker.leaf(name, Leaf::Value(Value::text(self.0)));
    }

    fn same(old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool> {
        let (a, b) = (Self::bytes(old)?, Self::bytes(new)?);
        if a.len() == b.len() {
            share.spend(old, a.len())?;
        }
        Ok(a == b)
    }
}
