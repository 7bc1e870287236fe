//! The sections after the event boxes, and the two trigger layouts.

use super::record_run::RecordRun;
use super::shapes::{self, Shape};
use super::{Map, Records};
use crate::bytes::Cursor;
use crate::error::{ErrorKind, Result};

/// The sections between the event boxes and the triggers, in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    AniBgs,
    ItemBoxes,
    Gimmicks,
    TrailingPaths,
    TriggerHead,
}

impl Section {
    pub(super) const COUNT: usize = 5;

    pub(super) const ALL: [Self; Self::COUNT] =
        [Self::AniBgs, Self::ItemBoxes, Self::Gimmicks, Self::TrailingPaths, Self::TriggerHead];

    /// Whether it begins with a count of records; otherwise it is one record.
    pub(super) const fn has_count(self) -> bool {
        self.shape().1
    }

    /// The shape of its records, and whether a count precedes them; otherwise it is one record.
    const fn shape(self) -> (&'static Shape, bool) {
        match self {
            Self::AniBgs => (&shapes::ANI_BGS, true),
            Self::ItemBoxes => (&shapes::ITEM_BOXES, true),
            Self::Gimmicks => (&shapes::GIMMICKS, true),
            Self::TrailingPaths => (&shapes::TRAILING_PATHS, false),
            Self::TriggerHead => (&shapes::TRIGGER_HEAD, false),
        }
    }

    const fn before(self) -> Option<Self> {
        match self {
            Self::AniBgs => None,
            Self::ItemBoxes => Some(Self::AniBgs),
            Self::Gimmicks => Some(Self::ItemBoxes),
            Self::TrailingPaths => Some(Self::Gimmicks),
            Self::TriggerHead => Some(Self::TrailingPaths),
        }
    }
}

/// The layouts after the name of the main script (docs/formats/wdata.md §7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TriggerLayout {
    /// A list of triggers: the document's layout up to main version 8, the published program's for every version.
    Triggers,
    /// Three lists of scripts: the document's layout from main version 9 on.
    Scripts,
}

impl TriggerLayout {
    /// The name that outputs use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Triggers => "triggers",
            Self::Scripts => "scripts",
        }
    }
}

/// Why a trigger layout was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// The version has only one.
    OnlyOne,
    /// With this layout the sections end at the last byte of the file; with the other they do not.
    EndsTheFile,
    /// With both layouts the sections end at the last byte; the document is followed.
    BothFit,
    /// Neither ends at the last byte; the document is followed.
    NeitherFits,
}

impl Choice {
    /// The reason in words.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::OnlyOne => "the only one of this version",
            Self::EndsTheFile => "it ends at the last byte of the file, the other does not",
            Self::BothFit => "both end at the last byte of the file; the document is followed",
            Self::NeitherFits => "neither ends at the last byte of the file; the document is followed",
        }
    }
}

/// Numbers of the runs after the triggers.
pub(super) const SCENES: usize = 1;
pub(super) const SCENE_ELEMENTS: usize = 2;
pub(super) const SCENE_RESOURCES: usize = 3;

/// The sections from the triggers on, read with one of the layouts.
#[derive(Debug)]
pub(super) struct TrailingSections {
    pub(super) layout: TriggerLayout,
    pub(super) choice: Choice,
    /// Triggers or scripts, scenes, scene elements, scene resources: as many as could be reached.
    runs: Vec<RecordRun>,
    /// Whether the triggers end the file.
    server_side: bool,
}

impl TrailingSections {
    fn read(map: &Map, layout: TriggerLayout, at: usize) -> Self {
        let end_of_file = map.source().bytes().len();
        let mut tail = Self { layout, choice: Choice::OnlyOne, runs: Vec::new(), server_side: false };
        let first = match layout {
            TriggerLayout::Triggers => counted(map, &shapes::TRIGGERS, at).ok(),
            TriggerLayout::Scripts => Some(single(map, &shapes::SCRIPTS, at)),
        };
        let Some(mut end) = tail.push(first) else { return tail };
        if end == end_of_file {
            tail.server_side = true;
            return tail;
        }
        let scenes = counted(map, &shapes::SCENES, end).ok();
        let count = scenes.as_ref().map_or(0, |run| run.count);
        let Some(next) = tail.push(scenes) else { return tail };
        end = next;
        let count = if map.versions().main >= 20 { count } else { 0 };
        let elements = RecordRun::walk(&shapes::SCENE_ELEMENTS, map.view(), end, count, end_of_file, map.versions());
        let Some(next) = tail.push(Some(elements)) else { return tail };
        tail.push(counted(map, &shapes::SCENE_RESOURCES, next).ok());
        tail
    }

    /// Keeps a run; returns its end, if it has one.
    fn push(&mut self, run: Option<RecordRun>) -> Option<usize> {
        let run = run?;
        let end = run.is_whole().then(|| run.found_end());
        self.runs.push(run);
        end
    }

    /// The end of the last section, if all of them are there.
    fn end(&self) -> Option<usize> {
        let all = self.server_side || self.runs.len() > SCENE_RESOURCES;
        self.runs.last().filter(|run| all && run.is_whole()).map(RecordRun::found_end)
    }

    /// The sections that could be reached.
    pub(super) fn runs(&self) -> &[RecordRun] {
        &self.runs
    }

    pub(super) fn is_server_side(&self) -> bool {
        self.server_side
    }

    /// The triggers or the scripts.
    pub(super) fn triggers(&self, map: &Map) -> Result<&RecordRun> {
        self.run(map, 0)
    }

    /// The run of this number; `None` in a file that ends after the triggers.
    pub(super) fn after_triggers(&self, map: &Map, number: usize) -> Result<Option<&RecordRun>> {
        if self.server_side { Ok(None) } else { self.run(map, number).map(Some) }
    }

    fn run(&self, map: &Map, number: usize) -> Result<&RecordRun> {
        if let Some(run) = self.runs.get(number) {
            return Ok(run);
        }
        // The run was not reached: an earlier one is incomplete, or the count before the next is wrong.
        let at = match self.runs.last() {
            Some(run) => run.end(map)?,
            None => map.section_run(Section::TriggerHead)?.end(map)?,
        };
        let shape = match self.runs.len() {
            0 => &shapes::TRIGGERS,
            SCENES => &shapes::SCENES,
            _ => &shapes::SCENE_RESOURCES,
        };
        Err(match counted(map, shape, at) {
            Err(error) => error,
            Ok(_) => map.view().at(at).error(ErrorKind::Damaged { what: "unreadable".into() }),
        })
    }
}

/// A run with its count in front.
fn counted(map: &Map, shape: &'static Shape, at: usize) -> Result<RecordRun> {
    let mut cursor = Cursor::new(map.view().at(at));
    let count = cursor.count("count", shape.least()).map_err(|e| e.context(shape.name))?;
    let (start, limit) = (cursor.position(), map.source().bytes().len());
    Ok(RecordRun::walk(shape, map.view(), start, count, limit, map.versions()))
}

/// A run of one record.
fn single(map: &Map, shape: &'static Shape, at: usize) -> RecordRun {
    RecordRun::walk(shape, map.view(), at, 1, map.source().bytes().len(), map.versions())
}

impl Map {
    pub(super) fn section(&self, section: Section) -> Result<Records<'_>> {
        self.section_run(section).map(|run| Records::new(self, run))
    }

    pub(super) fn section_run(&self, section: Section) -> Result<&RecordRun> {
        let (shape, has_count) = section.shape();
        let Some(lazy) = self.sections.get(section as usize) else { return Err(super::tables::no_record(shape.name)) };
        lazy.get_or_try_init(|| {
            let at = match section.before() {
                Some(before) => self.section_run(before)?.end(self)?,
                None => self.boxes_end()?,
            };
            let run = if has_count { counted(self, shape, at)? } else { single(self, shape, at) };
            let versions = self.versions();
            match section {
                Section::AniBgs => self.known_version(&run, versions.ani_bg, 5)?,
                Section::ItemBoxes => self.known_version(&run, versions.item_box, 3)?,
                _ => {}
            }
            Ok(run)
        })
    }

    /// Checks that records of a version above `highest` are not read by the layout of that one.
    fn known_version(&self, run: &RecordRun, version: i32, highest: i32) -> Result<()> {
        if run.count == 0 || (0..=highest).contains(&version) {
            return Ok(());
        }
        let kind = ErrorKind::BadVersion { found: version.into() };
        Err(self.view().at(run.start).error(kind).context(run.shape.name))
    }

    /// Reads the rest of the file with the layouts that its version allows, and keeps the one that fits.
    pub(super) fn tail(&self) -> Result<&TrailingSections> {
        self.tail.get_or_try_init(|| {
            let at = self.section_run(Section::TriggerHead)?.end(self)?;
            let triggers = TrailingSections::read(self, TriggerLayout::Triggers, at);
            if self.versions().main < 9 {
                return Ok(triggers);
            }
            let scripts = TrailingSections::read(self, TriggerLayout::Scripts, at);
            let end = Some(self.source().bytes().len());
            let (tail, choice) = match (triggers.end() == end, scripts.end() == end) {
                (true, false) => (triggers, Choice::EndsTheFile),
                (false, true) => (scripts, Choice::EndsTheFile),
                (true, true) => (scripts, Choice::BothFit),
                (false, false) => (scripts, Choice::NeitherFits),
            };
            Ok(TrailingSections { choice, ..tail })
        })
    }

    /// The end of the last section.
    ///
    /// # Errors
    /// When a section is damaged.
    pub(super) fn end(&self) -> Result<usize> {
        let tail = self.tail()?;
        match tail.end() {
            Some(end) => Ok(end),
            None => {
                tail.triggers(self)?.check(self)?;
                [SCENES, SCENE_ELEMENTS, SCENE_RESOURCES]
                    .into_iter()
                    .try_fold(0, |_, number| tail.run(self, number)?.end(self))
            }
        }
    }
}
