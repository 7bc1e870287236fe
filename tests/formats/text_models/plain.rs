//! A second reader of text models, which shares no code with the first: tags are cut at `<` and `>`, and tables are made by the
//! description of the format (`docs/formats/text_models.md`).

use assetq::formats::id;

/// An element.
#[derive(Debug, Default)]
pub struct Tag {
    name: String,
    text: String,
    children: Vec<Tag>,
}

impl Tag {
    /// Reads text without comments, entities and attributes.
    pub fn parse(text: &str) -> Self {
        let mut open = vec![Self::default()];
        for piece in text.split('<').skip(1) {
            let (tag, after) = piece.split_once('>').unwrap();
            if let Some(name) = tag.strip_prefix('/') {
                let closed = open.pop().unwrap();
                assert_eq!(closed.name, name.trim());
                open.last_mut().unwrap().children.push(closed);
            } else if let Some(name) = tag.strip_suffix('/') {
                let empty = Self { name: name.trim().to_owned(), ..Self::default() };
                open.last_mut().unwrap().children.push(empty);
            } else {
                open.push(Self { name: tag.trim().to_owned(), text: after.trim().to_owned(), children: Vec::new() });
            }
        }
        let [root] = <[Self; 1]>::try_from(open.pop().unwrap().children).unwrap();
        assert!(open.is_empty());
        root
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The first element at `path`.
    fn get(&self, path: &str) -> Option<&Self> {
        path.split('/').try_fold(self, |tag, name| tag.all(name).next())
    }

    fn text(&self, path: &str) -> String {
        self.get(path).map(|tag| tag.text.clone()).unwrap_or_default()
    }

    fn number(&self, path: &str) -> String {
        self.get(path).map(|tag| number(&tag.text)).unwrap_or_default()
    }

    fn list(&self, name: &str) -> String {
        let texts: Vec<&str> = self.all(name).map(|tag| &*tag.text).collect();
        format!("[{}]", texts.join(", "))
    }
}

fn number(text: &str) -> String {
    text.trim().parse::<f32>().unwrap().to_string()
}

fn numbers(text: &str) -> String {
    let numbers: Vec<String> = text.split_whitespace().map(number).collect();
    format!("[{}]", numbers.join(", "))
}

/// Columns of a table: the name of each, and its cells as text.
pub type Columns = Vec<(&'static str, Vec<String>)>;

fn columns<T>(rows: &[T], names: &[&'static str], cells: impl Fn(&T) -> Vec<String>) -> Columns {
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    names.iter().enumerate().map(|(at, name)| (*name, rows.iter().map(|row| row[at].clone()).collect())).collect()
}

fn add_nodes<'t>(above: &'t Tag, parent: &str, nodes: &mut Vec<(&'t Tag, String)>) {
    for node in above.all("node") {
        // A render set names its nodes by elements of the same name, but stands in the root itself.
        let own = nodes.len().to_string();
        nodes.push((node, parent.to_owned()));
        add_nodes(node, &own, nodes);
    }
}

/// The tables of a `.visual`.
pub fn visual(root: &Tag) -> Vec<(&'static str, Columns)> {
    let mut nodes = Vec::new();
    root.all("skeleton").chain([root]).for_each(|above| add_nodes(above, "", &mut nodes));
    let nodes = columns(&nodes, &["name", "parent", "x", "y", "z"], |(node, parent)| {
        let row = node.text("transform/row3");
        let mut place = row.split_whitespace().map(number).collect::<Vec<_>>();
        place.resize(3, "0".to_owned());
        [vec![node.text("identifier"), parent.clone()], place].concat()
    });
    let sets: Vec<&Tag> = root.all("renderSets").chain([root]).flat_map(|list| list.all("renderSet")).collect();
    let names = ["name", "vertices", "indices", "vertices_id", "indices_id", "material", "mfm", "nodes", "world_space"];
    let sets = columns(&sets, &names, |set| {
        let name = set.text("name");
        let [vertices, indices] = match name.is_empty() {
            false => ["vertices", "indices"].map(|end| format!("{name}.{end}")),
            true => [set.text("geometry/vertices"), set.text("geometry/primitive")],
        };
        let [first, second] = [&vertices, &indices].map(|name| format!("0x{:08X}", id::of_name(name)));
        let material = set.get("material").or_else(|| set.get("geometry/primitiveGroup/material"));
        let of_material = |name| material.map(|material| material.text(name)).unwrap_or_default();
        let nodes = set.get("nodes").unwrap_or(set).list("node");
        let world = set.text("treatAsWorldSpaceObject");
        vec![name, vertices, indices, first, second, of_material("identifier"), of_material("mfm"), nodes, world]
    });
    let lods: Vec<&Tag> = root.all("lods").flat_map(|list| list.all("lod")).collect();
    let lods = columns(&lods, &["extent", "casts_shadow", "render_sets"], |lod| {
        let sets = lod.get("renderSets").map(|sets| sets.list("renderSet")).unwrap_or_default();
        vec![lod.number("extent"), lod.text("castsShadow"), sets]
    });
    vec![("nodes", nodes), ("render_sets", sets), ("lods", lods)]
}

/// The table of a `.model`.
pub fn model(root: &Tag) -> Vec<(&'static str, Columns)> {
    let with_ending = |path: String, ending: &str| {
        if path.is_empty() || path.ends_with(ending) { path } else { path + ending }.replace('\\', "/")
    };
    let names = ["visual", "nodefullVisual", "nodelessVisual"];
    let visual = names.iter().map(|name| root.text(name)).find(|path| !path.is_empty()).unwrap_or_default();
    let list = |path, name| root.get(path).map(|list: &Tag| list.list(name)).unwrap_or_default();
    let names = ["visual", "parent", "extent", "casts_shadow", "animations", "dyes"];
    let cells = vec![
        with_ending(visual, ".visual"),
        with_ending(root.text("parent"), ".model"),
        root.number("extent"),
        root.text("castsShadow"),
        list("animations", "animation"),
        list("dyes", "dye"),
    ];
    vec![("models", columns(&[()], &names, |()| cells.clone()))]
}

/// The table of a `.mfm`.
pub fn material(root: &Tag) -> Vec<(&'static str, Columns)> {
    let properties: Vec<&Tag> = root.all("property").collect();
    let cells = columns(&properties, &["name", "kind", "value"], |property| {
        let value = &property.children[0];
        let shown = match &*value.name {
            "Float" => number(&value.text),
            kind if kind.starts_with("Vector") => numbers(&value.text),
            _ => value.text.replace('\\', "/"),
        };
        vec![property.text.clone(), value.name.clone(), shown]
    });
    vec![("properties", cells)]
}

/// The table of an `.info`.
pub fn info(root: &Tag) -> Vec<(&'static str, Columns)> {
    let cells = |model: &Tag| vec![model.name.clone(), model.text.len().to_string()];
    let models: Vec<Vec<String>> = root.children.iter().map(cells).collect();
    vec![("models", columns(&models, &["name", "size"], Clone::clone))]
}
