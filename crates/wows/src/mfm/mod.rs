//! World of Warships material of a mod, `.mfm`: an XML file of a shader and its properties. The game's own materials are
//! records of `assets.bin`.

use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::reader::{FileFormat, Likeness, Reader};
use crate::report::{Check, Progress, Report};
use crate::scene::{Placements, Property, Surface};
use crate::source::Source;
use crate::table::{Column, DeclaredTable, Table, Value, Visitor};
use std::borrow::Cow;

/// An open `.mfm` file.
#[derive(Debug)]
pub struct Material {
    source: Source,
    surface: Surface,
    /// The kind of each property, as the file names it: `Texture`, `Float`.
    kinds: Vec<String>,
}

/// XML elements that a material may have: real ones have about 40.
const MAX_NODES: u32 = 1 << 16;

impl Material {
    /// Opens `source`, and reads all of it.
    ///
    /// # Errors
    /// `Text` if it is not UTF-8, and `Damaged` if it is not XML, a property has no name, or a value is not of its kind.
    pub fn open(source: Source) -> Result<Self> {
        let view = source.view("material");
        let text = view.utf8(source.bytes())?;
        let options = roxmltree::ParsingOptions { nodes_limit: MAX_NODES, ..Default::default() };
        let valid = with_valid_root(text);
        let document = roxmltree::Document::parse_with_options(&valid, options)
            .map_err(|error| view.error(ErrorKind::Damaged { what: format!("it is not XML: {error}").into() }))?;
        let root = document.root_element();
        let fx = root.children().find(|child| child.has_tag_name("fx"));
        // The name as the file has it.
        let name = root.range().start.saturating_add(1);
        let name = text.get(name..name.saturating_add(root.tag_name().name().len())).unwrap_or_default();
        let mut surface = Surface::new(name.trim_end_matches(".mfm"));
        fx.and_then(|fx| fx.text()).unwrap_or_default().trim().clone_into(&mut surface.fx);
        let mut kinds = Vec::new();
        for node in root.children().filter(|child| child.has_tag_name("property")) {
            let at = view.skip(node.range().start);
            let damaged = |what: String| at.error(ErrorKind::Damaged { what: what.into() });
            let name = node.text().unwrap_or_default().trim();
            let value = node.children().find(roxmltree::Node::is_element);
            let Some(value) = value.filter(|_| !name.is_empty()) else {
                return Err(damaged("a property without a name or a value".into()));
            };
            let (kind, text) = (value.tag_name().name(), value.text().unwrap_or_default().trim());
            let bad = || damaged(format!("property {name}: {text:?} is no {kind}"));
            surface.properties.push((name.to_owned(), property(kind, text).ok_or_else(bad)?));
            kinds.push(kind.to_owned());
        }
        Ok(Self { source, surface, kinds })
    }

    /// The shader, the textures and the values.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }
}

/// The text with a root element whose name is valid in XML. The root is called as the file, and names of files may begin with a
/// digit: an underscore takes its place, so that all positions stay.
fn with_valid_root(text: &str) -> Cow<'_, str> {
    let root = text.strip_prefix('<').unwrap_or_default();
    let name = root.split(|c: char| c == '>' || c == '/' || c.is_ascii_whitespace()).next().unwrap_or_default();
    let (Some(rest), true) = (name.get(1..), name.starts_with(|c: char| c.is_ascii_digit())) else {
        return Cow::Borrowed(text);
    };
    let behind = root.get(name.len()..).unwrap_or_default();
    match behind.rsplit_once(&format!("</{name}")) {
        Some((inside, end)) => format!("<_{rest}{inside}</_{rest}{end}").into(),
        None => format!("<_{rest}{behind}").into(),
    }
}

/// A value of the kind that its element is called by.
fn property(kind: &str, text: &str) -> Option<Property> {
    let value = match kind {
        "Texture" => return Some(Property::Texture(text.replace('\\', "/"))),
        "Float" => Value::F32(text.parse().ok()?),
        "Int" => Value::Int(text.parse().ok()?),
        "Bool" => match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Value::Bool(true),
            "false" | "0" => Value::Bool(false),
            _ => return None,
        },
        kind if kind.starts_with("Vector") => {
            let numbers = text.split_ascii_whitespace().map(|number| number.parse().ok());
            Value::floats(numbers.collect::<Option<Vec<f32>>>()?)
        }
        _ => Value::from(text.to_owned()),
    };
    Some(Property::Value(value.into_owned()))
}

impl Placements for Material {
    fn lone_surface(&self) -> Option<Surface> {
        Some(self.surface.clone())
    }
}

impl FileFormat for Material {
    const NAME: &'static str = "mfm";
    const ENDINGS: &'static [&'static str] = &[".mfm"];

    /// The root element is called as the file.
    fn likeness(data: &[u8]) -> Likeness {
        let head = data.get(..data.len().min(512)).unwrap_or_default();
        let tag = head.strip_prefix(b"<").and_then(|rest| rest.split(|&byte| byte == b'>').next());
        Likeness::by_shape(tag.is_some_and(|tag| tag.trim_ascii().ends_with(b".mfm")))
    }

    fn open_as(source: Source, _: &Options) -> Result<Self> {
        Self::open(source)
    }
}

impl Reader for Material {
    fn source(&self) -> &Source {
        &self.source
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        let table = DeclaredTable::over("properties", &self.surface.properties)
            .column(Column::text("name").brief().key(), |(_, (name, _))| Ok(Value::text(name)))
            .column(Column::text("kind").brief(), |(row, _)| {
                Ok(self.kinds.get(*row).map(|kind| Value::text(kind)).into())
            })
            .column(Column::nested("value").brief(), |(_, (_, property))| {
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

    fn placements(&self) -> Option<&dyn Placements> {
        Some(self)
    }

    fn verify(&self, _: &Progress) -> Report {
        let mut fx = Check::new("shader");
        if self.surface.fx.is_empty() {
            fx.fail(Error::of_part(ErrorKind::NotFound { what: "the element fx is missing".into() }, "material"));
        }
        Report { checks: vec![fx] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_may_be_called_as_any_file() {
        for name in ["hull", "0cb6", "4"] {
            let text = format!("<{name}.mfm><fx>a.fx</fx><property>p<Float>x</Float></property></{name}.mfm>");
            let at = text.find("<property>").unwrap();
            let open = |text: String| Material::open(Source::from_vec("a.mfm", text.into_bytes()));
            let error = open(text.clone()).unwrap_err().to_string();
            assert!(error.ends_with(&format!("\"x\" is no Float (at offset {at:#x})")), "{error}");
            let material = open(text.replace(">x<", ">1<")).unwrap();
            assert_eq!((&*material.surface.name, &*material.surface.fx), (name, "a.fx"));
        }
        let cut = Material::open(Source::from_vec("a.mfm", b"<0.mfm><fx>".to_vec())).unwrap_err().to_string();
        assert!(cut.contains("not XML"), "{cut}");
    }
}
