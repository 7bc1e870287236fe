//! Writes Python pickles as the game's own tools do.

/// A value of a pickle.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Data {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Data>),
    Tuple(Vec<Data>),
    Dict(Vec<(Data, Data)>),
    /// An object of a class of `GameParams`, with its attributes.
    Object(&'static str, Vec<(Data, Data)>),
}

/// Members with texts for keys: `members! { "level": 9, "name": name }`.
macro_rules! members {
    ($($key:literal: $value:expr),* $(,)?) => { vec![$(($key.into(), $crate::pickle::Data::from($value))),*] };
}

/// A dictionary with texts for keys.
macro_rules! dict {
    ($($members:tt)*) => { $crate::pickle::Data::Dict($crate::pickle::members! { $($members)* }) };
}
pub(crate) use {dict, members};

macro_rules! from {
    ($($type:ty: $value:ident => $data:expr),* $(,)?) => {
        $(impl From<$type> for Data {
            fn from($value: $type) -> Self {
                $data
            }
        })*
    };
}

from! {
    &str: text => Self::Text(text.to_owned()),
    String: text => Self::Text(text),
    bool: truth => Self::Bool(truth),
    i64: number => Self::Int(number),
    f64: number => Self::Float(number),
}

impl<T: Into<Self>> From<Vec<T>> for Data {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl Data {
    /// A dictionary with texts for keys.
    pub fn dict<K: Into<Self>>(members: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Dict(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// An object of `class` with these attributes.
    pub fn object<K: Into<Self>>(class: &'static str, members: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Object(class, members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// A value to be changed: the member called `name` of a dictionary or an object.
    ///
    /// # Panics
    /// When it has no such member.
    pub fn get_mut(&mut self, name: &str) -> &mut Self {
        let (Self::Dict(members) | Self::Object(_, members)) = self else { panic!("no members in {self:?}") };
        let found = members.iter_mut().find(|(key, _)| *key == Self::from(name));
        found.map(|(_, value)| value).unwrap_or_else(|| panic!("no member {name}"))
    }

    /// The value as a pickle of protocol 1, in which a repeated text is a reference to the first.
    pub fn pickle(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.value(self);
        writer.bytes.push(b'.');
        writer.bytes
    }
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    /// Texts and globals that have a slot in the memo.
    known: std::collections::HashMap<String, u32>,
    slots: u32,
}

impl Writer {
    fn memorize(&mut self, key: Option<String>) {
        self.bytes.push(b'r');
        self.bytes.extend(self.slots.to_le_bytes());
        if let Some(key) = key {
            self.known.insert(key, self.slots);
        }
        self.slots += 1;
    }

    /// Writes a reference to what has the key, or else what `write` writes.
    fn once(&mut self, key: String, write: impl FnOnce(&mut Self)) {
        match self.known.get(&key) {
            Some(slot) => {
                self.bytes.push(b'j');
                self.bytes.extend(slot.to_le_bytes());
            }
            None => {
                write(self);
                self.memorize(Some(key));
            }
        }
    }

    fn global(&mut self, module: &str, name: &str) {
        self.once(format!("{module}\n{name}\n"), |w| w.bytes.extend(format!("c{module}\n{name}\n").bytes()));
    }

    fn members(&mut self, members: &[(Data, Data)]) {
        self.bytes.push(b'}');
        self.memorize(None);
        // As the game's tools do, a thousand at once.
        for members in members.chunks(1000) {
            self.bytes.push(b'(');
            for (key, value) in members {
                self.value(key);
                self.value(value);
            }
            self.bytes.push(b'u');
        }
    }

    fn value(&mut self, value: &Data) {
        match value {
            Data::None => self.bytes.push(b'N'),
            Data::Bool(truth) => self.bytes.extend(format!("I0{}\n", u8::from(*truth)).bytes()),
            Data::Int(number) => match (u8::try_from(*number), i32::try_from(*number)) {
                (Ok(small), _) => self.bytes.extend([b'K', small]),
                (_, Ok(number)) => {
                    self.bytes.push(b'J');
                    self.bytes.extend(number.to_le_bytes());
                }
                _ => self.bytes.extend(format!("L{number}L\n").bytes()),
            },
            Data::Float(number) => {
                self.bytes.push(b'G');
                self.bytes.extend(number.to_be_bytes());
            }
            Data::Text(text) => self.once(text.clone(), |w| {
                w.bytes.push(b'X');
                w.bytes.extend((text.len() as u32).to_le_bytes());
                w.bytes.extend(text.bytes());
            }),
            Data::List(items) => {
                self.bytes.push(b']');
                self.memorize(None);
                for items in items.chunks(1000) {
                    self.bytes.push(b'(');
                    items.iter().for_each(|item| self.value(item));
                    self.bytes.push(b'e');
                }
            }
            Data::Tuple(items) => {
                self.bytes.push(b'(');
                items.iter().for_each(|item| self.value(item));
                self.bytes.push(b't');
                self.memorize(None);
            }
            Data::Dict(members) => self.members(members),
            Data::Object(class, members) => {
                self.global("copy_reg", "_reconstructor");
                self.bytes.push(b'(');
                self.global("GameParams", class);
                self.global("__builtin__", "object");
                self.bytes.extend(b"NtR");
                self.memorize(None);
                self.members(members);
                self.bytes.push(b'b');
            }
        }
    }
}
