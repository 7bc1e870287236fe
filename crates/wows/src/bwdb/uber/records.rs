use crate::budget::Budget;
use crate::bwdb::prototypes::{Property, Skeleton};
use crate::bwdb::record::{Field, Flag, NameId, PathId, Type, follow_one, prototype};
use crate::bwdb::tables::Propertied;
use crate::error::{Error, ErrorKind, Result};

prototype! { 'a
    /// ModelUber: a model with its levels of detail, their visuals and their materials.
    UberModel = 0x68 {
        level_count: u32 @ 0x00,
        material_count: u32 @ 0x04,
        /// The levels of detail, the finest first.
        levels: [UberLevel<'a>; level_count] @ 0x08,
        model_ids: [PathId; level_count] @ 0x10 in lods,
        visuals: [UberVisual<'a>; level_count] @ 0x18,
        /// The path of each material, a `.mfm`.
        material_ids: [PathId; material_count] @ 0x20 in materials,
        material_names: [NameId; material_count] @ 0x28 in materials,
        materials: [UberMaterial<'a>; material_count] @ 0x30,
        /// The nodes of all levels.
        skeleton: Skeleton<'a> @ 0x38 in skeleton_nodes,
    }

    /// A level of detail.
    UberLevel = 0x48 in lods, unused 0x14..0x48 {
        /// The model of the next level; 0 in the last.
        next: PathId @ 0x00,
        visual: PathId @ 0x08,
        /// The distance up to which it is drawn.
        extent: f32 @ 0x10,
    }

    UberVisual = 0x30 in visuals, unused 0x24..0x28 {
        /// Lower corner of the bounding box.
        min: [f32; 3] @ 0x00,
        /// Upper corner of the bounding box.
        max: [f32; 3] @ 0x0C,
        /// The `.geometry` that holds its buffers.
        geometry: PathId @ 0x18,
        render_set_count: u32 @ 0x20,
        render_sets: [UberRenderSet<'a>; render_set_count] @ 0x28,
    }

    /// One draw group of a visual: fields of [`RenderSet`](crate::bwdb::prototypes::RenderSet).
    UberRenderSet = 0x20 in render_sets, unused 0x16..0x18 {
        mfm: PathId @ 0x00,
        material_name: NameId @ 0x08,
        vertices_name: NameId @ 0x0C,
        indices_name: NameId @ 0x10,
        skinned: Flag @ 0x14,
        node_count: u8 @ 0x15,
        nodes: [NameId; node_count] @ 0x18,
    }

    /// A material. Pointers to the values of each type are at 0x28; the code of a property states its type and its value's number.
    UberMaterial = 0x70 in materials, unused 0x10..0x18, 0x28..0x70 {
        /// The shader, a `.fx`.
        fx: PathId @ 0x00,
        /// Not named by any reader.
        unknown: u32 @ 0x08,
        property_count: u16 @ 0x0C,
        /// Flags of some shaders.
        flags: u16 @ 0x0E,
        property_names: [NameId; property_count] @ 0x18 in material_properties,
        /// The type (low 3 bits) and the number (high 5 bits) of each property's value.
        property_codes: [u8; property_count] @ 0x20 in material_properties,
    }
}

/// The position of the pointers to values.
const VALUES: usize = 0x28;

/// The types of properties, by the number in their codes.
const PROPERTY_KINDS: [(&str, &Type); 8] = [
    ("bool", Flag::OF),
    ("int", i32::OF),
    ("float", f32::OF),
    ("texture", PathId::OF),
    ("vec3", <[f32; 3]>::OF),
    ("vec2", <[f32; 2]>::OF),
    ("matrix", <[f32; 16]>::OF),
    ("vec4", <[f32; 4]>::OF),
];

impl<'a> Propertied<'a> for UberMaterial<'a> {
    const PROPERTY_SIZE: usize = NameId::SIZE + u8::SIZE;

    fn count(&self) -> Result<usize> {
        Ok(self.property_count()?.into())
    }

    fn property(&self, index: usize) -> Result<Property<'a>> {
        let here = self.view();
        let codes = self.property_codes()?;
        let property = self.property_names()?.get(index).zip(codes.get(index));
        let (name, code) =
            property.ok_or_else(|| here.error(ErrorKind::NotFound { what: format!("property {index} not found") }))?;
        let (name, code) = (name?, code?);
        let (kind, number) = (usize::from(code & 7), usize::from(code >> 3));
        let (kind_name, of) = *PROPERTY_KINDS.get(kind).expect("three bits are below 8");
        let first = follow_one(here, VALUES.saturating_add(kind.saturating_mul(8)))?;
        let property = Property::new(name, kind_name, of, first.skip(number.saturating_mul(of.size)));
        let code = codes.view().skip(index);
        property.map_err(|_: Error| code.bad_value("number of a property's value", number as i128))
    }
}

impl<'a> UberMaterial<'a> {
    /// All properties in order. Materials may share the arrays of their properties, which are charged to `budget`.
    ///
    /// # Errors
    /// When the names of the properties cannot be read. Each property fails for itself.
    pub(in crate::bwdb) fn properties(
        &self,
        budget: &Budget,
    ) -> Result<impl Iterator<Item = Result<Property<'a>>> + use<'a>> {
        let (this, names) = (*self, self.property_names()?);
        budget.spend_at(names.view(), names.len().saturating_mul(NameId::SIZE))?;
        Ok((0..names.len()).map(move |index| this.property(index)))
    }
}
