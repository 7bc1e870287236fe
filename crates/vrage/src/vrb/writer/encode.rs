//! Values as bytes (docs/formats/vrb.md §5): a tree, as `cat` shows it, under the model that it is stored as.

use super::super::builtin::Builtin;
use super::super::graph::PendingValue;
use super::super::node::{TYPE, VALUE};
use super::super::path::{is_shown, push_index, push_name};
use super::super::shape::Shape;
use super::super::types::{FIRST, Member, ModelId, TypeId, TypeModel};
use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::table::{Guid, Value};
use crate::writable::{refused, short, short_text, whole_number};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// The most elements or entries: counts have 24 bits.
const MOST: usize = (1 << 24) - 1;

/// The prefix of what is there, and of what is null.
const PRESENT: u8 = 0x00;
const NULL: u8 = 0xFF;

/// The types and models of an archive by their names.
#[derive(Debug, Default)]
pub(super) struct TypeNames {
    types: HashMap<String, TypeId>,
    models: HashMap<String, Vec<ModelId>>,
}

impl TypeNames {
    /// Names every type, as long as they have no more than `limit` bytes together.
    fn of(types: &TypeModel, limit: u64) -> Result<Self> {
        let mut names = Self::default();
        let built_in = (0..FIRST).filter(|&id| Builtin::from_id(id).is_some());
        let budget = Budget::new("bytes of the names of all types", limit);
        for id in built_in.clone().map(TypeId).chain((0..types.types().len()).map(TypeId::at)) {
            names.types.entry(name_within(types, id, &budget)?).or_insert(id);
        }
        for id in built_in.map(ModelId).chain((0..types.models().len()).map(ModelId::at)) {
            names.models.entry(name_within(types, types.type_of(id), &budget)?).or_default().push(id);
        }
        Ok(names)
    }
}

fn name_within(types: &TypeModel, id: TypeId, budget: &Budget) -> Result<String> {
    let name = types.type_name(id)?.to_string();
    budget.spend(name.len() as u64).map_err(|kind| Error::of_part(kind, "type table"))?;
    Ok(name)
}

/// An encoder of values, with their bytes so far.
#[derive(Debug)]
pub(super) struct Encoder<'a> {
    pub types: &'a TypeModel,
    pub out: Vec<u8>,
    /// The path of the current value after the name of its chunk, for messages.
    pub path: String,
    /// How many more values may be open.
    depth: usize,
    /// How many values may be open at once, and how often a type may be stored as another one.
    most_depth: usize,
    /// Bytes that the names of all types may have.
    text_limit: u64,
    names: Lazy<TypeNames>,
    /// Whether members that are left out are empty lists and dictionaries, as those that no row shows are.
    pub lenient: bool,
    /// Whether the first difference ends the encoding.
    pub trial: bool,
}

impl<'a> Encoder<'a> {
    pub fn new(types: &'a TypeModel, chunk: &str, depth: usize, text_limit: u64) -> Self {
        let (out, path, names) = (Vec::new(), chunk.to_owned(), Lazy::default());
        Self { types, out, path, depth, most_depth: depth, text_limit, names, lenient: false, trial: false }
    }

    /// The error for a value that does not fit: names its destination.
    #[cold]
    pub fn refuse(&self, what: impl std::fmt::Display) -> Error {
        refused(format!("{}: {what}", self.path))
    }

    /// The error for a value of another kind than `model` needs.
    #[cold]
    pub fn unfit(&self, value: &Value<'_>, model: ModelId, fits: &str) -> Error {
        self.refuse(format_args!("{} does not fit {}: {fits} does", shown(value), self.type_name(model)))
    }

    /// The error that ends a trial.
    #[cold]
    pub fn differs(&self) -> Error {
        refused("differs")
    }

    fn names(&self) -> Result<&TypeNames> {
        self.names.get_or_try_init(|| TypeNames::of(self.types, self.text_limit))
    }

    pub fn deeper<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let Some(left) = self.depth.checked_sub(1) else { return Err(self.refuse("values nest too deep")) };
        self.depth = left;
        let done = write(self);
        self.depth = left.saturating_add(1);
        done
    }

    /// Does `write` with the path one step longer.
    pub fn at_name<T>(&mut self, name: &str, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.at(|path| push_name(path, name), write)
    }

    /// Does `write` with the path one step longer.
    pub fn at_index<T>(&mut self, index: usize, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.at(|path| push_index(path, index), write)
    }

    fn at<T>(&mut self, step: impl FnOnce(&mut String), write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let len = self.path.len();
        step(&mut self.path);
        let done = write(self);
        self.path.truncate(len);
        done
    }

    /// Writes the prefix of a value. Returns whether the value follows.
    fn prefix(&mut self, is_null: bool) -> bool {
        self.out.push(if is_null { NULL } else { PRESENT });
        !is_null
    }

    /// The four bytes of a count, or of a model's or type's number.
    pub fn number(&self, what: &str, number: usize) -> Result<[u8; 4]> {
        match u32::try_from(number).map(u32::to_le_bytes) {
            Ok([a, b, c, 0]) => Ok([PRESENT, a, b, c]),
            _ => Err(self.refuse(format_args!("{number} {what}; {MOST} at most can be stored"))),
        }
    }

    /// A string that is there.
    pub fn string(&mut self, text: &str) -> Result<()> {
        let units = text.encode_utf16().count();
        let Ok(length) = i32::try_from(units.saturating_mul(2)) else {
            return Err(self.refuse(format_args!("a text of {units} UTF-16 units; its bytes are counted by 31 bits")));
        };
        self.out.push(PRESENT);
        self.out.extend(length.to_le_bytes());
        self.out.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        Ok(())
    }

    /// The full name of a model's type, for messages.
    pub fn type_name(&self, model: ModelId) -> String {
        self.types.model_name(model).map_or_else(|_| model.to_string(), |name| name.to_string())
    }

    /// The type that `value` says to have, if it does, and the value without that. `actual` is the model of the old value
    /// in its place.
    pub fn typed<'v, 'w>(
        &self,
        slot: PendingValue,
        actual: Option<ModelId>,
        value: &'v Value<'w>,
    ) -> Result<(Option<ModelId>, &'v Value<'w>)> {
        let Value::Map(entries) = value else { return Ok((None, value)) };
        let Some((TYPE, name)) = entries.first().map(|(key, value)| (&**key, value)) else { return Ok((None, value)) };
        let inner = match entries.as_slice() {
            [_, (key, inner)] if key == VALUE => Some(inner),
            _ => None,
        };
        // In a dictionary it is an ordinary key.
        let model = actual.unwrap_or(slot.model);
        if inner.is_none() && !slot.polymorphic && matches!(self.settled(model), Shape::Dictionary(..)) {
            return Ok((None, value));
        }
        let Some(name) = name.as_text() else {
            return Err(self.refuse(format_args!("{TYPE} is {name}; the full name of a type fits")));
        };
        Ok((Some(self.model_named(slot, &name)?), inner.unwrap_or(value)))
    }

    /// The model of the type `name`, for a value in `slot`.
    fn model_named(&self, slot: PendingValue, name: &str) -> Result<ModelId> {
        if !slot.polymorphic {
            // A type that is stored as another may have either name.
            let mut model = slot.model;
            for _ in 0..self.most_depth {
                if self.type_name(model) == name {
                    return Ok(slot.model);
                }
                let Shape::Proxy { target, .. } = self.types.shape(model) else { break };
                model = target;
            }
            let declared = self.type_name(slot.model);
            return Err(self.refuse(format_args!("a value of {declared} cannot be made one of {}", short_text(name))));
        }
        let mut known = self.names()?.models.get(name).into_iter().flatten();
        let readable = known.clone().find(|id| !matches!(self.types.shape(**id), Shape::Unknown(_)));
        match readable.or(known.next()) {
            Some(&model) => Ok(model),
            None => Err(self.refuse(format_args!(
                "the archive has no values of type {}; those in its table `models` can be written",
                short_text(name)
            ))),
        }
    }

    /// The shape of what a model is stored as in the end.
    pub fn settled(&self, mut model: ModelId) -> Shape {
        for _ in 0..self.most_depth {
            match self.types.shape(model) {
                Shape::Proxy { target, .. } => model = target,
                shape => return shape,
            }
        }
        Shape::Unknown("which type this is stored as")
    }

    /// Writes a value that has no old one, or another than the old one in its place, whose model is `actual`.
    pub fn fresh(&mut self, slot: PendingValue, value: &Value<'_>, actual: Option<ModelId>) -> Result<()> {
        self.deeper(|this| this.fresh_in(slot, value, actual))
    }

    fn fresh_in(&mut self, slot: PendingValue, value: &Value<'_>, actual: Option<ModelId>) -> Result<()> {
        if self.trial {
            return Err(self.differs());
        }
        let (named, value) = self.typed(slot, actual, value)?;
        let mut model = slot.model;
        if slot.polymorphic {
            if value.is_null() {
                if named.is_some() {
                    return Err(
                        self.refuse(format_args!("a null has no type: write null in place of {TYPE} and {VALUE}"))
                    );
                }
                self.out.push(NULL);
                return Ok(());
            }
            model = match named.or(actual) {
                Some(model) => model,
                None if self.lenient => self.only_fit(value)?,
                None => {
                    let declared = self.type_name(model);
                    return Err(self.refuse(format_args!(
                        "any type may stand here for {declared}, and none is said: write \"{TYPE}\": NAME first, as `cat \
                         --types` does"
                    )));
                }
            };
            self.out.extend(self.number("models", model.0 as usize)?);
        }
        let shown = model;
        for _ in 0..self.most_depth {
            match self.types.shape(model) {
                Shape::Scalar(kind) | Shape::Enum(kind) => return self.scalar(kind, shown, slot.image, value),
                Shape::Proxy { target, prefix } => {
                    // The game writes a null text with a special prefix, which marks the text as present.
                    let text = matches!(self.settled(target), Shape::Scalar(Builtin::String));
                    if prefix && !self.prefix(value.is_null() && !text) {
                        return Ok(());
                    }
                    model = target;
                }
                Shape::Record { from, to, prefix } if !slot.image => {
                    if prefix && !self.prefix(value.is_null()) {
                        return Ok(());
                    }
                    let fields = self.fields(model, value)?;
                    return self.members(self.types.members(from, to), fields, None);
                }
                Shape::Image { from, to, size } => {
                    let fields = self.fields(model, value)?;
                    return self.members(self.types.members(from, to), fields, Some(size));
                }
                Shape::List(element) if !slot.image => return self.list(model, element, value),
                Shape::Dictionary(key, of) if !slot.image => return self.dictionary(model, key, of, value),
                Shape::Unknown(what) => {
                    let what = format!("{}: {model}: {what} is not known, and guessing it", self.path).into();
                    return Err(Error::of_part(ErrorKind::Unsupported { what }, ""));
                }
                Shape::Record { .. } | Shape::List(_) | Shape::Dictionary(..) => {
                    return Err(self.refuse("a value of this type cannot lie in an image"));
                }
            }
        }
        Err(self.refuse("its type is stored as itself"))
    }

    /// Writes a member of the image at `base`, `at` bytes from its start, by `write`.
    pub fn in_image(
        &mut self,
        base: usize,
        size: u32,
        at: usize,
        write: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let tail = self.out.len();
        write(self)?;
        let length = self.out.len().saturating_sub(tail);
        if at.saturating_add(length) > size as usize {
            return Err(self.refuse("its place is not in the image that it belongs to"));
        }
        self.out.copy_within(tail.., base.saturating_add(at));
        self.out.truncate(tail);
        Ok(())
    }

    pub fn fields<'v, 'w>(&self, model: ModelId, value: &'v Value<'w>) -> Result<Fields<'v, 'w>> {
        let Value::Map(entries) = value else { return Err(self.unfit(value, model, "an object of its members")) };
        let entries = match entries.as_slice() {
            [(key, _), entries @ ..] if key == TYPE => entries,
            entries => entries,
        };
        Ok(Fields { entries, up_to: 0, beyond: Vec::new() })
    }

    /// The value of a record's member that no row shows: an empty list or dictionary.
    pub fn empty(&self, model: ModelId) -> Value<'static> {
        match self.settled(model) {
            Shape::List(_) => Value::List(Vec::new()),
            _ => Value::Map(Vec::new()),
        }
    }

    /// Writes the members of a record, or of an image of this size.
    fn members(&mut self, members: &[Member], mut fields: Fields<'_, '_>, image: Option<u32>) -> Result<()> {
        let (types, base) = (self.types, self.out.len());
        self.out.resize(base.saturating_add(image.map_or(0, |size| size as usize)), 0);
        for member in members {
            let name = types.member_name(member);
            let slot = PendingValue { model: member.model, polymorphic: member.polymorphic, image: image.is_some() };
            let given = fields.take(name);
            if given.is_none() && !self.lenient {
                return Err(self.refuse(format_args!("its member {} is missing", short_text(name))));
            }
            let empty = self.empty(member.model);
            let value = given.unwrap_or(&empty);
            self.at_name(name, |this| {
                let written = match image {
                    Some(size) => {
                        this.in_image(base, size, member.image_offset() as usize, |this| this.fresh(slot, value, None))
                    }
                    None => this.fresh(slot, value, None),
                };
                match given {
                    Some(_) => written,
                    None => written.map_err(|_| this.refuse("this is missing: it has no empty value")),
                }
            })?;
        }
        self.all_taken(&fields, members)
    }

    /// Checks that every field was a member.
    pub fn all_taken(&self, fields: &Fields<'_, '_>, members: &[Member]) -> Result<()> {
        let Some(name) = fields.left() else { return Ok(()) };
        let known: Vec<&str> = members.iter().take(32).map(|m| self.types.member_name(m)).collect();
        let (name, known) = (short_text(name), known.join(", "));
        Err(self.refuse(format_args!("there is no member {name}; there are {known}")))
    }

    fn list(&mut self, model: ModelId, element: ModelId, value: &Value<'_>) -> Result<()> {
        let items = match value {
            Value::Null => {
                self.out.push(NULL);
                return Ok(());
            }
            Value::List(items) => items.as_slice(),
            Value::Map(entries) if entries.is_empty() && self.lenient => &[],
            other => return Err(self.unfit(other, model, "a list")),
        };
        let count = self.number("elements", items.len())?;
        self.out.extend(count);
        for (i, item) in items.iter().enumerate() {
            self.at_index(i, |this| this.fresh(PendingValue::plain(element), item, None))?;
        }
        Ok(())
    }

    fn dictionary(&mut self, model: ModelId, key: ModelId, of: ModelId, value: &Value<'_>) -> Result<()> {
        let named = Builtin::from_id(key.0) == Some(Builtin::String);
        match value {
            Value::Null => {
                self.out.push(NULL);
                Ok(())
            }
            Value::Map(entries) if named || entries.is_empty() => {
                let count = self.number("entries", entries.len())?;
                self.out.extend(count);
                let mut seen = std::collections::HashSet::new();
                for (name, value) in entries {
                    if !seen.insert(&**name) {
                        return Err(self.refuse(format_args!("the key {} is there twice", short_text(name))));
                    }
                    self.string(name)?;
                    self.at_name(name, |this| this.fresh(PendingValue::plain(of), value, None))?;
                }
                Ok(())
            }
            Value::List(pairs) if !named => {
                let count = self.number("entries", pairs.len())?;
                self.out.extend(count);
                for (i, pair) in pairs.iter().enumerate() {
                    self.at_index(i, |this| this.fresh_pair(key, of, pair))?;
                }
                Ok(())
            }
            other => Err(self.unfit(other, model, fit_for_dictionary(named))),
        }
    }

    pub fn pair<'v, 'w>(&self, value: &'v Value<'w>) -> Result<(&'v Value<'w>, &'v Value<'w>)> {
        match value {
            Value::Map(entries) => match entries.as_slice() {
                [(k, key), (v, value)] if k == "key" && v == "value" => Ok((key, value)),
                [(v, value), (k, key)] if k == "key" && v == "value" => Ok((key, value)),
                _ => Err(self.refuse("an entry that is not {key, value}")),
            },
            other => Err(self.refuse(format_args!("{} is no entry: {{key, value}} is", shown(other)))),
        }
    }

    /// Writes an entry whose key is no text.
    pub fn fresh_pair(&mut self, key: ModelId, of: ModelId, pair: &Value<'_>) -> Result<()> {
        let (k, v) = self.pair(pair)?;
        self.fresh(PendingValue::plain(key), k, None)?;
        self.fresh(PendingValue::plain(of), v, None)
    }

    /// The only model of a record with all members of `value`, if the value itself does not state one.
    fn only_fit(&mut self, value: &Value<'_>) -> Result<ModelId> {
        let Value::Map(entries) = value else {
            return Err(self.refuse(format_args!("the type of {} is not said", shown(value))));
        };
        let types = self.types;
        let candidates = types.models().iter().enumerate().filter(|(_, model)| match model.shape {
            Shape::Record { from, to, .. } | Shape::Image { from, to, .. } => {
                let members = types.members(from, to);
                !types.is_nullable(model.ty)
                    && entries.iter().all(|(name, _)| members.iter().any(|m| types.member_name(m) == name))
            }
            _ => false,
        });
        let mark = self.out.len();
        let mut fit = Vec::new();
        for model in candidates.map(|(at, _)| ModelId::at(at)) {
            if self.fresh(PendingValue::plain(model), value, None).is_ok() {
                fit.push(model);
            }
            self.out.truncate(mark);
        }
        match fit.as_slice() {
            &[model] => Ok(model),
            [] => {
                Err(self.refuse("no type of this archive has exactly these members; `patch --entry` can say its type"))
            }
            [first, second, ..] => {
                let (first, second) = (self.type_name(*first), self.type_name(*second));
                Err(self.refuse(format_args!(
                    "this may be {first:?} or {second:?}; write the entry with `patch --entry`, and \"{TYPE}\" in it"
                )))
            }
        }
    }

    fn scalar(&mut self, builtin: Builtin, model: ModelId, image: bool, value: &Value<'_>) -> Result<()> {
        if image && matches!(builtin, Builtin::String | Builtin::Type) {
            return Err(self.refuse("a reference cannot lie in an image"));
        }
        if self.try_scalar(builtin, value)? {
            return Ok(());
        }
        let fits = match (builtin, integers(builtin)) {
            (_, Some((_, range))) => format!("a whole number from {} to {}", range.start(), range.end()),
            (Builtin::String, _) => "a text or null".into(),
            (Builtin::Type, _) => "the name of a type in the archive's table `types`, or null,".into(),
            (Builtin::Boolean, _) => "true or false".into(),
            (Builtin::Single, _) => "a number of single precision".into(),
            (Builtin::Guid, _) => "a GUID with dashes".into(),
            _ => "a number".to_owned(),
        };
        let name = self.type_name(model);
        Err(self.refuse(format_args!("value {} does not fit {name}: {fits} does", shown(value))))
    }

    /// Writes a leaf, if the value fits; returns whether it does.
    fn try_scalar(&mut self, builtin: Builtin, value: &Value<'_>) -> Result<bool> {
        if let Some((size, range)) = integers(builtin) {
            let Some(number) = whole_number(value).filter(|number| range.contains(number)) else { return Ok(false) };
            self.out.extend(number.to_le_bytes().iter().take(size));
            return Ok(true);
        }
        Ok(match (builtin, value) {
            (Builtin::String | Builtin::Type, Value::Null) => self.put(Some([NULL])),
            (Builtin::String, Value::Text(text)) => self.string(text).map(|()| true)?,
            (Builtin::String, Value::Utf16(text)) => self.string(&text.to_string()).map(|()| true)?,
            (Builtin::Type, value) => {
                let types = &self.names()?.types;
                let id = value.as_text().and_then(|name| types.get(&*name));
                let index = id.map(|id| self.number("types", id.0 as usize)).transpose()?;
                self.put(index)
            }
            (Builtin::Boolean, Value::Bool(truth)) => self.put(Some([u8::from(*truth)])),
            (Builtin::Boolean, Value::Text(text)) => self.put(text.parse().ok().map(|truth: bool| [truth.into()])),
            (Builtin::Single, value) => self.put(single(value).map(f32::to_le_bytes)),
            (Builtin::Double, value) => self.put(double(value).map(f64::to_le_bytes)),
            (Builtin::Guid, Value::Guid(guid)) => self.put(Some(guid.0)),
            (Builtin::Guid, value) => self.put(value.as_text().and_then(|text| Guid::parse(&text)).map(|guid| guid.0)),
            _ => false,
        })
    }

    /// Writes bytes, if present; returns whether they are.
    fn put<const N: usize>(&mut self, bytes: Option<[u8; N]>) -> bool {
        self.out.extend(bytes.into_iter().flatten());
        bytes.is_some()
    }
}

/// The size of an integer in bytes, and its values.
fn integers(builtin: Builtin) -> Option<(usize, RangeInclusive<i128>)> {
    Some(match builtin {
        Builtin::Byte => (1, 0..=u8::MAX.into()),
        Builtin::Int16 => (2, i16::MIN.into()..=i16::MAX.into()),
        Builtin::UInt16 => (2, 0..=u16::MAX.into()),
        Builtin::Int32 => (4, i32::MIN.into()..=i32::MAX.into()),
        Builtin::UInt32 => (4, 0..=u32::MAX.into()),
        Builtin::Int64 => (8, i64::MIN.into()..=i64::MAX.into()),
        Builtin::UInt64 => (8, 0..=u64::MAX.into()),
        _ => return None,
    })
}

/// The value that fits a dictionary.
pub(super) const fn fit_for_dictionary(named: bool) -> &'static str {
    if named { "an object" } else { "a list of {key, value}" }
}

/// The fields of a record, in the given order.
#[derive(Debug)]
pub(super) struct Fields<'v, 'w> {
    entries: &'v [(std::borrow::Cow<'w, str>, Value<'w>)],
    /// All fields before this one were used.
    up_to: usize,
    /// The later fields that were used.
    beyond: Vec<usize>,
}

impl<'v, 'w> Fields<'v, 'w> {
    /// The first unused field `name`. Most are in the order of the members.
    pub fn take(&mut self, name: &str) -> Option<&'v Value<'w>> {
        let mut rest = self.entries.iter().enumerate().skip(self.up_to);
        let (at, (_, value)) = rest.find(|(at, (key, _))| key == name && !self.beyond.contains(at))?;
        if at == self.up_to {
            self.up_to = at.saturating_add(1);
            while let Some(next) = self.beyond.iter().position(|&at| at == self.up_to) {
                self.beyond.swap_remove(next);
                self.up_to = self.up_to.saturating_add(1);
            }
        } else {
            self.beyond.push(at);
        }
        Some(value)
    }

    fn left(&self) -> Option<&'v str> {
        let mut rest = self.entries.iter().enumerate().skip(self.up_to);
        rest.find(|(at, _)| !self.beyond.contains(at)).map(|(_, (name, _))| &**name)
    }
}

/// A value as messages show it: short.
pub(super) fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Map(_) => "an object".to_owned(),
        Value::List(_) => "a list".to_owned(),
        Value::Utf16(_) => short_text(&value.to_string()),
        other => short(other),
    }
}

/// The double-precision number that a value is, finite unless the value itself is not.
fn double(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::F64(number) => Some(*number),
        Value::F32(number) => Some((*number).into()),
        #[allow(clippy::cast_precision_loss)] // as with any number that JSON gives
        Value::Int(number) => Some(*number as f64),
        #[allow(clippy::cast_precision_loss)]
        Value::Uint(number) => Some(*number as f64),
        Value::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The single-precision number that a value is.
fn single(value: &Value<'_>) -> Option<f32> {
    match value {
        Value::F32(number) => Some(*number),
        // Parsed from its text, it is rounded once.
        Value::Text(text) => text.trim().parse().ok(),
        other => {
            let number = double(other)?;
            #[allow(clippy::cast_possible_truncation)] // too large numbers become infinite
            let short = number as f32;
            (short.is_finite() || !number.is_finite()).then_some(short)
        }
    }
}

/// Whether a leaf of the file equals the leaf of a tree, in its shown form.
pub(super) fn same_leaf(old: &Value<'_>, new: &Value<'_>) -> bool {
    match (old, new) {
        (Value::Null, Value::Null) => true,
        (Value::Null, _) => false,
        // Outputs show null for a number that is not finite.
        (Value::F32(old), Value::Null) => !old.is_finite(),
        (Value::F64(old), Value::Null) => !old.is_finite(),
        (_, Value::Null) => false,
        (Value::F32(old), new) => {
            let unsigned = matches!(new, Value::Int(_) | Value::Uint(_));
            single(new).is_some_and(|new| old.to_bits() == new.to_bits() || (unsigned && *old == new))
        }
        (Value::F64(old), new) => {
            let unsigned = matches!(new, Value::Int(_) | Value::Uint(_));
            double(new).is_some_and(|new| old.to_bits() == new.to_bits() || (unsigned && *old == new))
        }
        (Value::Utf16(old), Value::Text(new)) => is_shown(*old, new),
        (Value::Int(_) | Value::Uint(_), new) => whole_number(old) == whole_number(new),
        (Value::Guid(old), Value::Text(new)) => Guid::parse(new) == Some(*old),
        (Value::Bool(_), Value::Text(new)) => old.to_string() == **new,
        (Value::Text(_) | Value::Utf16(_), Value::Text(_) | Value::Utf16(_)) => old.as_text() == new.as_text(),
        (old, new) => old == new,
    }
}
