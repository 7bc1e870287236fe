use super::Value;
use crate::error::Result;

/// A consumer of an entry as a stream, such as the output of `cat`. A reader calls it while it walks, so that an entry of any
/// size needs no memory. Calls nest as the entry does.
pub trait Visitor {
    /// A map begins. Every value in it comes after its [`Visitor::key`].
    fn begin_map(&mut self) -> Result<()>;

    fn key(&mut self, name: &str) -> Result<()>;

    /// The map that began last ends.
    fn end_map(&mut self) -> Result<()>;

    fn begin_list(&mut self) -> Result<()>;

    fn end_list(&mut self) -> Result<()>;

    /// A value without branches. Lists and maps are taken apart by [`Visitor::value`].
    fn leaf(&mut self, value: &Value<'_>) -> Result<()>;

    /// A whole value, with all of its branches.
    fn value(&mut self, value: &Value<'_>) -> Result<()> {
        match value {
            Value::List(values) => {
                self.begin_list()?;
                for value in values {
                    self.value(value)?;
                }
                self.end_list()
            }
            Value::Map(values) => {
                self.begin_map()?;
                for (name, value) in values {
                    self.field(name, value)?;
                }
                self.end_map()
            }
            leaf => self.leaf(leaf),
        }
    }

    fn field(&mut self, name: &str, value: &Value<'_>) -> Result<()> {
        self.key(name)?;
        self.value(value)
    }
}

/// A [`Visitor`] that builds the entry in memory: for small entries and for tests.
#[derive(Debug, Default)]
pub struct Tree {
    /// Open lists and maps, the outermost first, with the key under which each one goes into its parent.
    open: Vec<(Option<String>, Value<'static>)>,
    key: Option<String>,
    root: Value<'static>,
}

impl Tree {
    /// The value that was visited; null when nothing was.
    pub fn into_value(self) -> Value<'static> {
        self.root
    }

    fn put(&mut self, key: Option<String>, value: Value<'static>) {
        match self.open.last_mut() {
            Some((_, Value::List(values))) => values.push(value),
            Some((_, Value::Map(values))) => {
                values.push((key.expect("each value of a map follows its key").into(), value));
            }
            _ => self.root = value,
        }
    }

    fn close(&mut self) {
        if let Some((key, value)) = self.open.pop() {
            self.put(key, value);
        }
    }
}

impl Visitor for Tree {
    fn begin_map(&mut self) -> Result<()> {
        self.open.push((self.key.take(), Value::Map(Vec::new())));
        Ok(())
    }

    fn key(&mut self, name: &str) -> Result<()> {
        self.key = Some(name.to_owned());
        Ok(())
    }

    fn end_map(&mut self) -> Result<()> {
        self.close();
        Ok(())
    }

    fn begin_list(&mut self) -> Result<()> {
        self.open.push((self.key.take(), Value::List(Vec::new())));
        Ok(())
    }

    fn end_list(&mut self) -> Result<()> {
        self.close();
        Ok(())
    }

    fn leaf(&mut self, value: &Value<'_>) -> Result<()> {
        let key = self.key.take();
        self.put(key, value.clone().into_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_comes_out_as_it_went_in() {
        let value = Value::Map(vec![
            ("name".into(), "hull".into()),
            ("boxes".into(), Value::List(vec![Value::List(vec![]), Value::Map(vec![("min".into(), 1.5f32.into())])])),
            ("end".into(), Value::Null),
        ]);
        let mut tree = Tree::default();
        tree.value(&value).unwrap();
        assert_eq!(tree.into_value(), value);
    }
}
