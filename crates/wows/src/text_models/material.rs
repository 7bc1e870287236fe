//! Materials, `.mfm`: a shader and its properties.

use super::document::Document;
use super::references::{PathCell, Texts};
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::models::{Placements, Property, Surface};
use crate::options::Options;
use crate::reader::{Facet, Reader, facets};
use crate::relations::Relations;
use crate::report::{Check, Progress, Report};
use crate::scene::ShapeData;
use crate::source::Source;
use crate::table::{Column, DeclaredTable, Kind, Table, Value, Visitor};
use crate::writable::Writable;
use std::borrow::Cow;
use std::ops::Range;

/// The ending of names of files.
const ENDING: &str = ".mfm";

/// An open `.mfm` file.
#[derive(Debug)]
pub struct Material {
    pub(super) source: Source,
    pub(super) surface: Surface,
    pub(super) places: Vec<ValuePlace>,
    texts: Lazy<Texts>,
}

#[derive(Debug)]
pub(super) struct ValuePlace {
    /// The kind of the value, as the file names it: `Texture`, `Float`.
    pub(super) kind: String,
    pub(super) range: Range<usize>,
}

impl Material {
    fn read(source: Source, _: &Options) -> Result<Self> {
        let document = Document::parse(&source)?;
        let root = document.root(&source);
        let mut surface = Surface::new(root.name().trim_end_matches(ENDING));
        surface.fx = root.text_of("fx")?.map_or_else(String::new, Cow::into_owned);
        let mut places = Vec::new();
        for node in root.children_named("property") {
            let name = node.text()?;
            let Some(value) = node.children().next().filter(|_| !name.is_empty()) else {
                return Err(node.error("a property without a name or a value"));
            };
            let (kind, text) = (value.name(), value.text()?);
            let Some(property) = property(kind, &text) else {
                return Err(value.error(format!("property {name}: {text:?} is no {kind}")));
            };
            surface.properties.push((name.into_owned(), property));
            places.push(ValuePlace { kind: kind.to_owned(), range: value.text_range() });
        }
        Ok(Self { source, surface, places, texts: Lazy::default() })
    }

    pub(super) fn paths(&self) -> Result<Vec<PathCell>> {
        let textures =
            self.surface.properties.iter().enumerate().filter_map(|(row, (name, property))| match property {
                Property::Texture(path) if !path.is_empty() => {
                    Some(PathCell { path: path.clone(), table: "properties", row, column: name.clone().into() })
                }
                _ => None,
            });
        Ok(textures.collect())
    }

    /// The paths of the textures and the shader, and the names of properties.
    pub(super) fn texts(&self) -> Result<&Texts> {
        self.texts.get_or_try_init(|| {
            let paths = self.surface.textures().map(|(_, path)| path).chain([self.surface.fx.as_str()]);
            let names = self.surface.properties.iter().map(|(name, _)| name.clone());
            Ok(Texts::new(paths.map(str::to_owned), names.collect()))
        })
    }

    /// The shader, the textures and the values.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }
}

/// A finite number.
fn number(text: &str) -> Option<f32> {
    text.parse().ok().filter(|number: &f32| number.is_finite())
}

/// A value of the kind that its element is called by.
pub(super) fn property(kind: &str, text: &str) -> Option<Property> {
    let value = match kind {
        "Texture" => return Some(Property::Texture(text.replace('\\', "/"))),
        "Float" => Value::F32(number(text)?),
        "Int" => Value::Int(text.parse().ok()?),
        "Bool" => match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Value::Bool(true),
            "false" | "0" => Value::Bool(false),
            _ => return None,
        },
        kind if kind.starts_with("Vector") => {
            let numbers = text.split_ascii_whitespace().map(number);
            Value::floats(numbers.collect::<Option<Vec<f32>>>()?)
        }
        _ => Value::from(text.to_owned()),
    };
    Some(Property::Value(value.into_owned()))
}

impl ShapeData for Material {}

impl Placements for Material {
    fn lone_surface(&self) -> Option<Surface> {
        Some(self.surface.clone())
    }
}

super::text_format!(Material, "mfm", ENDING, "A material of a mod");

impl Reader for Material {
    fn source(&self) -> &Source {
        &self.source
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Writable, Relations, Placements, ShapeData]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        let table = DeclaredTable::over("properties", &self.surface.properties)
            .column(Column::text("name").brief().key(), |(_, (name, _))| Ok(Value::text(name)))
            .column(Column::text("kind").brief(), |(row, _)| {
                Ok(self.places.get(*row).map(|place| Value::text(&place.kind)).into())
            })
            .column(Column::new("value", Kind::Any).brief().writable(), |(_, (_, property))| {
                Ok(match property {
                    Property::Texture(path) => Value::text(path),
                    Property::Value(value) => value.clone(),
                })
            });
        vec![Box::new(table)]
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        vec![("name".into(), Value::text(&self.surface.name)), ("fx".into(), Value::text(&self.surface.fx))]
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let Some((_, property)) = self.surface.properties.iter().find(|(name, _)| name == entry) else {
            return Ok(false);
        };
        out.begin_map()?;
        match property {
            Property::Texture(path) => out.field("texture", &Value::text(path))?,
            Property::Value(value) => out.field("value", value)?,
        }
        out.end_map()?;
        Ok(true)
    }

    fn verify(&self, _: &Progress) -> Report {
        let mut fx = Check::new("shader");
        if self.surface.fx.is_empty() {
            fx.fail(Error::of_part(ErrorKind::NotFound { what: "the element fx is missing".into() }, "material"));
        }
        Report { checks: vec![fx] }
    }
}
