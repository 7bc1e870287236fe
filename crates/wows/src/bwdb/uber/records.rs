use crate::budget::Budget;
use crate::bwdb::prototypes::{Skeleton, StoredProperty, StoredValue};
use crate::bwdb::record::{Field, Flag, Leaf, NameId, PathId, Prototype as _, follow_one, prototype};
use crate::bytes::View;
use crate::error::{Error, ErrorKind, Result};
use crate::table::Value;

prototype! { 'a
    /// ModelUber: a model with its levels of detail, their visuals and their materials.
    UberModel = 0x68 {
        /// Number of levels of detail.
        level_count: u32 @ 0x00,
        /// Number of materials.
        material_count: u32 @ 0x04,
        /// The levels of detail, the finest first.
        levels: [UberLevel<'a>; level_count] @ 0x08 in lods,
        /// The model of each level.
        model_ids: [PathId; level_count] @ 0x10 in lods,
        /// The visual of each level.
        visuals: [UberVisual<'a>; level_count] @ 0x18 in visuals,
        /// The path of each material, a `.mfm`.
        material_ids: [PathId; material_count] @ 0x20 in materials,
        /// The name of each material.
        material_names: [NameId; material_count] @ 0x28 in materials,
        /// The materials.
        materials: [UberMaterial<'a>; material_count] @ 0x30 in materials,
        /// The nodes of all levels.
        skeleton: Skeleton<'a> @ 0x38 in skeleton_nodes,
    }

    /// A level of detail.
    UberLevel = 0x48, unused 0x14..0x48 {
        /// The model of the next level; 0 in the last.
        next: PathId @ 0x00,
        /// The `.visual` of the level.
        visual: PathId @ 0x08,
        /// The distance up to which it is drawn.
        extent: f32 @ 0x10,
    }

    /// The visual of a level.
    UberVisual = 0x30, unused 0x24..0x28 {
        /// Lower corner of the bounding box.
        min: [f32; 3] @ 0x00,
        /// Upper corner of the bounding box.
        max: [f32; 3] @ 0x0C,
        /// The `.geometry` that holds its buffers.
        geometry: PathId @ 0x18,
        /// Number of render sets.
        render_set_count: u32 @ 0x20,
        /// The visual's draw groups.
        render_sets: [UberRenderSet<'a>; render_set_count] @ 0x28 in render_sets,
    }

    /// One draw group of a visual.
    UberRenderSet = 0x20, unused 0x16..0x18 {
        /// The material, a `.mfm`.
        mfm: PathId @ 0x00,
        /// The material's name.
        material_name: NameId @ 0x08,
        /// The id of the vertex mapping in the `.geometry`.
        vertices_name: NameId @ 0x0C,
        /// The id of the index mapping in the `.geometry`.
        indices_name: NameId @ 0x10,
        /// Whether the vertices follow more than one node.
        skinned: Flag @ 0x14,
        /// Number of nodes.
        node_count: u8 @ 0x15,
        /// The nodes that the vertices follow.
        nodes: [NameId; node_count] @ 0x18,
    }

    /// A material. Pointers to the values of each type are at 0x28; the code of a property states its type and its value's number.
    UberMaterial = 0x70, unused 0x10..0x18, 0x28..0x70 {
        /// The shader, a `.fx`.
        fx: PathId @ 0x00,
        /// Not named by any reader.
        unknown: u32 @ 0x08,
        /// Number of properties.
        property_count: u16 @ 0x0C,
        /// Flags of some shaders.
        flags: u16 @ 0x0E,
        /// The name of each property.
        property_names: [NameId; property_count] @ 0x18 in material_properties,
        /// The type (low 3 bits) and the number (high 5 bits) of each property's value.
        property_codes: [u8; property_count] @ 0x20 in material_properties,
    }
}

/// The position of the pointers to values.
const VALUES: usize = 0x28;

impl<'a> UberMaterial<'a> {
    /// The property at `index`, with its value looked up.
    ///
    /// # Errors
    /// When there is no such property, or its value is not inside of the model.
    pub(in crate::bwdb) fn property(&self, index: usize) -> Result<StoredProperty<'a>> {
        let here = self.view();
        let missing = || here.error(ErrorKind::NotFound { what: format!("property {index} not found") });
        let name = self.property_names()?.get(index).ok_or_else(missing)??;
        let codes = self.property_codes()?;
        let code = codes.get(index).ok_or_else(missing)??;
        let (kind, number) = (usize::from(code & 7), usize::from(code >> 3));
        let values = Values { material: here, code: codes.view().skip(index), kind, number };
        let leaf = |value| StoredValue::Leaf(Leaf::Value(value));
        let (kind, value) = match kind {
            0 => ("bool", leaf(Value::Bool(values.get::<Flag>()?.0))),
            1 => ("int", leaf(values.get::<i32>()?.into())),
            2 => ("float", leaf(values.get::<f32>()?.into())),
            3 => ("texture", StoredValue::Leaf(Leaf::Path(values.get()?))),
            4 => ("vec3", StoredValue::Vec3(values.get()?)),
            5 => ("vec2", StoredValue::Vec2(values.get()?)),
            6 => ("matrix", StoredValue::Matrix(values.get()?)),
            _ => ("vec4", StoredValue::Vec4(values.get()?)),
        };
        Ok(StoredProperty { name, kind, value })
    }

    /// All properties in order. Materials may share the arrays of their properties, which are charged to `budget`.
    ///
    /// # Errors
    /// When the names of the properties cannot be read. Each property fails for itself.
    pub(in crate::bwdb) fn properties(
        &self,
        budget: &Budget,
    ) -> Result<impl Iterator<Item = Result<StoredProperty<'a>>> + use<'a>> {
        let (this, names) = (*self, self.property_names()?);
        budget.spend_at(names.view(), names.len().saturating_mul(NameId::SIZE))?;
        Ok((0..names.len()).map(move |index| this.property(index)))
    }
}

/// The place of a property's value.
struct Values<'a> {
    material: View<'a>,
    code: View<'a>,
    kind: usize,
    number: usize,
}

impl<'a> Values<'a> {
    fn get<T: Field<'a>>(&self) -> Result<T> {
        let pointer = VALUES.saturating_add(self.kind.saturating_mul(8));
        let first = follow_one(self.material, pointer)?;
        let value = T::read(first.skip(self.number.saturating_mul(T::SIZE)));
        value.map_err(|_: Error| self.code.bad_value("number of a property's value", self.number as i128))
    }
}
