//! The sections after the event boxes, and the two trigger layouts.

use super::Map;
use super::record_run::RecordRun;
use super::shapes::{self, RecordShape};
use crate::bytes::Cursor;
use crate::error::{ErrorKind, Result};

/// The sections after the event boxes, in file order. A file has either triggers or scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    AniBgs,
    ItemBoxes,
    Gimmicks,
    /// `obstacle_path`, `moc_path`, `ani_bg_path`: one record.
    TrailingPaths,
    /// The head of the triggers in both layouts: one record.
    TriggerHead,
    Triggers,
    /// The script lists: one record.
    Scripts,
    /// The cameras of the scenes. A file that ends after the triggers has neither these nor the following sections, as files of
    /// the game's servers do.
    Scenes,
    /// Things that each scene shows and hides: one record for each scene, or none before main version 20.
    SceneElements,
    /// Resources that scenes play.
    SceneResources,
}

impl Section {
    /// The number of sections before the triggers, which each file has.
    pub(super) const LEADING: usize = Self::Triggers as usize;

    /// All sections with the shapes of their records, and whether a count of records precedes them. Otherwise a section is one
    /// record, or as many as there are scenes.
    const ALL: [(Self, &RecordShape, bool); 10] = [
        (Self::AniBgs, &shapes::ANI_BGS, true),
        (Self::ItemBoxes, &shapes::ITEM_BOXES, true),
        (Self::Gimmicks, &shapes::GIMMICKS, true),
        (Self::TrailingPaths, &shapes::TRAILING_PATHS, false),
        (Self::TriggerHead, &shapes::TRIGGER_HEAD, false),
        (Self::Triggers, &shapes::TRIGGERS, true),
        (Self::Scripts, &shapes::SCRIPTS, false),
        (Self::Scenes, &shapes::SCENES, true),
        (Self::SceneElements, &shapes::SCENE_ELEMENTS, false),
        (Self::SceneResources, &shapes::SCENE_RESOURCES, true),
    ];

    pub(super) fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().map(|(section, ..)| section)
    }

    fn parts(self) -> (&'static RecordShape, bool) {
        let (_, shape, has_count) = *Self::ALL.get(self as usize).expect("the sections are in order");
        (shape, has_count)
    }

    /// Whether a count of records precedes them.
    pub(super) fn has_count(self) -> bool {
        self.parts().1
    }

    pub(super) fn shape(self) -> &'static RecordShape {
        self.parts().0
    }

    /// The run of this section's records from `at` on, of `count` records unless they are counted there.
    fn walk(self, map: &Map, mut at: usize, mut count: usize) -> Result<RecordRun> {
        let (shape, has_count) = self.parts();
        if has_count {
            let mut cursor = Cursor::new(map.view().at(at));
            count = cursor.count("count", shape.least()).map_err(|e| e.context(shape.name))?;
            at = cursor.position();
        }
        Ok(RecordRun::walk(shape, map.view(), at, count, map.source().bytes().len(), map.versions()))
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
    pub const fn name(self) -> &'static str {
        match self {
            Self::Triggers => "triggers",
            Self::Scripts => "scripts",
        }
    }

    /// The sections of a file with this layout, from the triggers on.
    const fn sections(self) -> [Section; 4] {
        let triggers = match self {
            Self::Triggers => Section::Triggers,
            Self::Scripts => Section::Scripts,
        };
        [triggers, Section::Scenes, Section::SceneElements, Section::SceneResources]
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
    pub const fn reason(self) -> &'static str {
        match self {
            Self::OnlyOne => "the only one of this version",
            Self::EndsTheFile => "it ends at the last byte of the file, the other does not",
            Self::BothFit => "both end at the last byte of the file; the document is followed",
            Self::NeitherFits => "neither ends at the last byte of the file; the document is followed",
        }
    }
}

/// The sections from the triggers on, read with one of the layouts.
#[derive(Debug)]
pub(super) struct TrailingSections {
    pub(super) layout: TriggerLayout,
    pub(super) choice: Choice,
    /// As many sections as could be reached.
    runs: Vec<(Section, RecordRun)>,
    /// Whether the triggers end the file.
    pub(super) server_side: bool,
}

impl TrailingSections {
    fn read(map: &Map, layout: TriggerLayout, at: usize) -> Self {
        let mut tail = Self { layout, choice: Choice::OnlyOne, runs: Vec::new(), server_side: false };
        let mut end = at;
        let mut count = 1;
        for section in layout.sections() {
            if section == Section::SceneElements && map.versions().main < 20 {
                count = 0;
            }
            let Ok(run) = section.walk(map, end, count) else { break };
            let is_whole = run.is_whole();
            (end, count) = (run.found_end, run.count);
            tail.runs.push((section, run));
            tail.server_side = section < Section::Scenes && is_whole && end == map.source().bytes().len();
            if !is_whole || tail.server_side {
                break;
            }
        }
        tail
    }

    /// The end of the last section, if all of them are there.
    fn end(&self) -> Option<usize> {
        let (section, run) = self.runs.last()?;
        let is_last = self.server_side || *section == Section::SceneResources;
        (is_last && run.is_whole()).then_some(run.found_end)
    }

    /// The sections that could be reached.
    pub(super) fn runs(&self) -> impl Iterator<Item = &RecordRun> {
        self.runs.iter().map(|(_, run)| run)
    }

    /// The run of a section; `None` in a file without the section.
    fn run(&self, map: &Map, section: Section) -> Result<Option<&RecordRun>> {
        if let Some((_, run)) = self.runs.iter().find(|(own, _)| *own == section) {
            return Ok(Some(run));
        }
        if !self.layout.sections().contains(&section) || (section >= Section::Scenes && self.server_side) {
            return Ok(None);
        }
        // The run was not reached: an earlier one is incomplete, or the count before the next is wrong.
        let (next, at) = match self.runs.last() {
            Some((Section::Triggers | Section::Scripts, run)) => (Section::Scenes, run.end(map)?),
            Some((_, run)) => (Section::SceneResources, run.end(map)?),
            None => (Section::Triggers, map.section_run(Section::TriggerHead)?.end(map)?),
        };
        Err(match next.walk(map, at, 0) {
            Err(error) => error,
            Ok(_) => map.view().at(at).error(ErrorKind::damaged("unreadable")),
        })
    }
}

impl Map {
    pub(super) fn any_run(&self, section: Section) -> Result<Option<&RecordRun>> {
        match self.sections.get(section as usize) {
            Some(_) => self.section_run(section).map(Some),
            None => self.tail()?.run(self, section),
        }
    }

    pub(super) fn section_run(&self, section: Section) -> Result<&RecordRun> {
        let lazy = self.sections.get(section as usize);
        lazy.expect("one of the sections that each file has").get_or_try_init(|| {
            let at = match Section::all().take_while(|other| *other < section).last() {
                Some(before) => self.section_run(before)?.end(self)?,
                None => self.boxes_end()?,
            };
            let run = section.walk(self, at, 1)?;
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
    pub(super) fn end(&self) -> Result<usize> {
        let tail = self.tail()?;
        let mut sections = tail.layout.sections().into_iter();
        sections.try_fold(0, |end, section| tail.run(self, section)?.map_or(Ok(end), |run| run.end(self)))
    }
}
