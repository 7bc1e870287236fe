//! Places of records, as the map from resources to prototypes packs them.

use crate::table::Value;

/// The state of a resource in the map from resources to prototypes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The resource's record can be read.
    Valid,
    /// The resource was deleted: its record may belong to something else.
    Deleted,
    /// 1 or 2, which no reader explains; not followed.
    Unnamed(u8),
}

impl From<State> for Value<'_> {
    fn from(state: State) -> Self {
        match state {
            State::Valid => "valid".into(),
            State::Deleted => "deleted".into(),
            State::Unnamed(number) => number.into(),
        }
    }
}

/// The place of a record, as the map from resources to prototypes packs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location(pub(super) u32);

impl Location {
    /// Whether the record can be read.
    #[inline]
    pub fn state(self) -> State {
        match self.0 & 3 {
            0 => State::Valid,
            3 => State::Deleted,
            _ => State::Unnamed((self.0 & 3) as u8),
        }
    }

    /// The number of the database that holds the record.
    #[inline]
    pub fn database_index(self) -> usize {
        (self.0 >> 2 & 0x3F) as usize
    }

    /// The number of the record there.
    #[inline]
    pub fn record_index(self) -> usize {
        (self.0 >> 8) as usize
    }

    /// The greatest number of databases that a location can name.
    pub const DATABASES: usize = 1 << 6;

    /// The location of a record that can be read; `None` for one beyond the numbers that it can hold.
    pub fn new(database: usize, record: usize) -> Option<Self> {
        let database = u32::try_from(database).ok().filter(|_| database < Self::DATABASES)?;
        let record = u32::try_from(record).ok().filter(|record| record >> 24 == 0)?;
        Some(Self(record << 8 | database << 2))
    }

    /// A number that sorts locations in the order of the databases and their records.
    #[inline]
    pub fn place(self) -> u32 {
        self.0.rotate_right(8)
    }
}
