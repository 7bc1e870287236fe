//! The games of the trilogy.

/// A game of the trilogy. A plain list does not show its game: unless its folder shows it, pass the game in
/// [`Options::with`](assetq_core::Options::with).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GameKind {
    /// FINAL FANTASY XIII.
    First,
    /// FINAL FANTASY XIII-2.
    Second,
    /// Lightning Returns: FINAL FANTASY XIII.
    LightningReturns,
}

impl GameKind {
    pub const ALL: [Self; 3] = [Self::First, Self::Second, Self::LightningReturns];

    /// The game's name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "ff13",
            Self::Second => "ff13-2",
            Self::LightningReturns => "lr",
        }
    }

    /// The name that people know.
    pub const fn title(self) -> &'static str {
        match self {
            Self::First => "FINAL FANTASY XIII",
            Self::Second => "FINAL FANTASY XIII-2",
            Self::LightningReturns => "Lightning Returns: FINAL FANTASY XIII",
        }
    }

    pub const fn folder(self) -> &'static str {
        match self {
            Self::First => "white_data",
            Self::Second => "alba_data",
            Self::LightningReturns => "weiss_data",
        }
    }
}
