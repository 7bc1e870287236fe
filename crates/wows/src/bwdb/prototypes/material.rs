use crate::bwdb::record::{Flag, Leaf, NameId, PathId, Type, Typed, prototype};
use crate::bytes::View;
use crate::error::{ErrorKind, Result};

prototype! { 'a
    /// MaterialPrototype: a shader and its parameters. Values lie in one array for each kind; the reference of a
    /// property says which array and where in it.
    Material = 0x78 as "MaterialPrototype" in materials, unused 0x0B..0x10 {
        property_count: u16 @ 0x00,
        bool_count: u8 @ 0x02 in material_properties,
        int_count: u8 @ 0x03 in material_properties,
        uint_count: u8 @ 0x04 in material_properties,
        float_count: u8 @ 0x05 in material_properties,
        texture_count: u8 @ 0x06 in material_properties,
        /// Number of 2-vectors.
        vec2_count: u8 @ 0x07 in material_properties,
        /// Number of 3-vectors.
        vec3_count: u8 @ 0x08 in material_properties,
        /// Number of 4-vectors.
        vec4_count: u8 @ 0x09 in material_properties,
        matrix_count: u8 @ 0x0A in material_properties,
        property_names: [NameId; property_count] @ 0x10 in material_properties,
        /// The kind (low 4 bits) and the index (high 12 bits) of each property.
        property_refs: [u16; property_count] @ 0x18 in material_properties,
        /// Values of kind 0.
        bools: [Flag; bool_count] @ 0x20 in material_properties,
        /// Values of kind 1.
        ints: [i32; int_count] @ 0x28 in material_properties,
        /// Values of kind 2.
        uints: [u32; uint_count] @ 0x30 in material_properties,
        /// Values of kind 3.
        floats: [f32; float_count] @ 0x38 in material_properties,
        /// Values of kind 4.
        textures: [PathId; texture_count] @ 0x40 in material_properties,
        /// Values of kind 5.
        vec2s: [[f32; 2]; vec2_count] @ 0x48 in material_properties,
        /// Values of kind 6.
        vec3s: [[f32; 3]; vec3_count] @ 0x50 in material_properties,
        /// Values of kind 7.
        vec4s: [[f32; 4]; vec4_count] @ 0x58 in material_properties,
        /// Values of kind 8.
        matrices: [[f32; 16]; matrix_count] @ 0x60 in material_properties,
        /// The shader, a `.fx`.
        fx: PathId @ 0x68,
        collision_flags: u32 @ 0x70,
        sort_order: i32 @ 0x74,
    }
}

/// A property of a material. Its value is decoded on demand.
#[derive(Debug, Clone, Copy)]
pub struct Property<'a> {
    pub name: NameId,
    /// The name of the kind of its value.
    pub kind: &'static str,
    of: &'static Type,
    view: View<'a>,
}

impl<'a> Property<'a> {
    /// A property with the value of a type at `view`.
    pub(in crate::bwdb) fn new(name: NameId, kind: &'static str, of: &'static Type, view: View<'a>) -> Result<Self> {
        view.take(of.size).map(|_| Self { name, kind, of, view })
    }

    /// The property's value; textures are paths.
    pub fn value(&self) -> Leaf<'a> {
        let value = self.of.read_leaf(self.view).expect("values of properties have no parts");
        value.expect("the value is inside of the file, and any bytes are one")
    }

    pub(in crate::bwdb) fn path(&self) -> Option<PathId> {
        // Vectors are not decoded for it.
        if self.of == PathId::OF { PathId::read(self.view).ok() } else { None }
    }
}

/// The names of the kinds that a property reference can have.
pub const PROPERTY_KINDS: [&str; 9] = ["bool", "int", "uint", "float", "texture", "vec2", "vec3", "vec4", "matrix"];

/// The numbers of the fields with the values of each kind.
pub(in crate::bwdb) const PROPERTY_VALUES: [usize; 9] = [
    Material::number_of("bools"),
    Material::number_of("ints"),
    Material::number_of("uints"),
    Material::number_of("floats"),
    Material::number_of("textures"),
    Material::number_of("vec2s"),
    Material::number_of("vec3s"),
    Material::number_of("vec4s"),
    Material::number_of("matrices"),
];

/// The number of the kind of textures.
pub(in crate::bwdb) const TEXTURE: usize = 4;

/// The number of the kind of a property, and the number of its value among the values of the kind.
pub(in crate::bwdb) fn split_reference(reference: u16) -> (usize, usize) {
    (usize::from(reference & 0xF), usize::from(reference >> 4))
}

/// The reference to a value; `None` if its number does not fit.
pub(in crate::bwdb) fn reference_to(kind: usize, value: usize) -> Option<u16> {
    let [kind, value] = [kind, value].map(|number| u16::try_from(number).ok());
    kind.zip(value.filter(|value| *value < 1 << 12)).map(|(kind, value)| value << 4 | kind)
}

impl<'a> Material<'a> {
    /// All properties in order.
    ///
    /// # Errors
    /// When the number of properties cannot be read. Each property fails for itself.
    pub fn properties(&self) -> Result<impl Iterator<Item = Result<Property<'a>>> + use<'a>> {
        let this = *self;
        Ok((0..usize::from(self.property_count()?)).map(move |i| this.property(i)))
    }

    /// The property at `index`.
    ///
    /// # Errors
    /// When there is no such property, its kind is unknown, or its value does not exist.
    pub(in crate::bwdb) fn property(&self, index: usize) -> Result<Property<'a>> {
        let here = self.view();
        let refs = self.property_refs()?;
        let property = self.property_names()?.get(index).zip(refs.get(index));
        let (name, reference) =
            property.ok_or_else(|| here.error(ErrorKind::NotFound { what: format!("property {index} not found") }))?;
        let (name, reference) = (name?, reference?);
        let (kind, at) = split_reference(reference);
        if let Some((kind, field)) = PROPERTY_KINDS.get(kind).zip(PROPERTY_VALUES.get(kind)) {
            let values = Self::OF.array(self.view(), *field)?;
            if let Some(value) = values.get(at) {
                return Property::new(name, kind, values.of, value);
            }
        }
        Err(refs.view().skip(index.saturating_mul(u16::SIZE)).bad_value("property reference", reference))
    }
}

/// The known name of a material property, for names that are not in the file's strings.
pub fn known_property_name(id: NameId) -> Option<&'static str> {
    KNOWN.binary_search_by_key(&id.0, |(known, _)| *known).ok().and_then(|i| KNOWN.get(i)).map(|(_, name)| *name)
}

/// Sorted by id. Names found by the game's community, ids computed from them.
const KNOWN: &[(u32, &str)] = &include!("material_properties.in");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::murmur3;

    #[test]
    fn known_names_are_sorted_and_hash_to_their_ids() {
        assert!(KNOWN.is_sorted_by(|a, b| a.0 < b.0));
        for (id, name) in KNOWN {
            assert_eq!(murmur3(name.as_bytes()), *id, "{name}");
        }
        assert_eq!(known_property_name(NameId(0x820F_0280)), Some("diffuseMap"));
        assert_eq!(known_property_name(NameId(1)), None);
    }
}
