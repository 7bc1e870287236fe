//! Looks at every byte of a map and lists what is wrong.

use super::fields::{self, Seen};
use super::record_run::RecordRun;
use super::trailing::Section;
use super::waypoints::id_of;
use super::{BoxType, Map, MapRecord, MapRecords, TriggerLayout};
use crate::bytes::Cursor;
use crate::error::{Error, ErrorKind};
use crate::report::{Check, Progress, Report, counted};
use crate::threads::prelude::*;

pub(super) fn verify(map: &Map, progress: &Progress) -> Report {
    progress.announce(map.source().bytes().len() as u64);
    let mut report = Report::default();
    let mut seen = Seen::default();

    let versions = map.versions();
    report.checks.push(Check::new("header").with_detail(format!(
        "main version {}, event box {}, ani bg {}, item box {}, gimmick {}",
        versions.main, versions.event_box, versions.ani_bg, versions.item_box, versions.gimmick
    )));

    report.checks.push(check_records(map.leading_paths(), &mut seen));
    report.checks.push(check_index(map));
    let by_type = BoxType::ALL.par_iter().map(|&box_type| {
        let records = match map.boxes(box_type) {
            Ok(records) if records.count() == 0 => return None,
            Ok(records) => records,
            Err(error) => {
                let mut check = Check::new(box_type.shape().name);
                check.fail(error);
                return Some((check, Seen::default()));
            }
        };
        let mut own = Seen::default();
        let check = check_records(records, &mut own);
        progress.advance(records.extent());
        Some((check, own))
    });
    for (check, met) in by_type.collect::<Vec<_>>().into_iter().flatten() {
        seen.add(&met);
        report.checks.push(check);
    }

    check_tail(map, &mut report, &mut seen);
    let end = check_end(map, report.is_ok());
    report.checks.push(end);
    report.checks.push(check_links(map));
    report.checks.push(Check::new("texts").with_detail(format!(
        "{} counted with a NUL, {} without, {} empty; {} truth values other than 0 and 1",
        seen.with_nul, seen.without_nul, seen.empty, seen.odd_flags
    )));
    progress.advance(map.source().bytes().len() as u64);
    report
}

/// Looks at every field of every record.
fn check_records(records: MapRecords<'_>, seen: &mut Seen) -> Check {
    let mut check = Check::new(records.shape().name).with_detail(counted(records.count(), "record"));
    for (number, record) in records.iter().enumerate() {
        let mut own = Check::new("");
        let fields = records.shape().fields;
        let read = fields::inspect(fields, &mut { record.cursor }, records.map.versions(), seen, &mut own);
        own.note(read);
        if records.shape().placed && own.is_ok() && own.note(record.volume()) == Some(None) {
            own.fail(record.error(ErrorKind::damaged("a place that describes no space")));
        }
        if !own.is_ok() {
            check = check.merge(own.context(format!("{} {number}", records.shape().name)));
        }
    }
    check.note(records.check());
    check
}

/// Checks the table of event boxes, and counts the unused bytes in front of the boxes of each type.
fn check_index(map: &Map) -> Check {
    let mut check = Check::new("event_box_index");
    if map.versions().main < 7 {
        return check.with_detail("none before main version 7");
    }
    let (Some(end), Some(types)) = (check.note(map.index_end()), check.note(map.box_types())) else { return check };
    map.find_all_boxes();
    let mut gaps = 0usize;
    let mut at = end;
    for &box_type in &types {
        // Damage in the boxes of a type is reported by their own check.
        let Ok(run) = map.box_run(box_type) else { continue };
        gaps = gaps.saturating_add(run.start.saturating_sub(at));
        at = run.found_end.max(at);
    }
    let in_order = types.is_sorted();
    let order = if in_order { "in the order of their numbers" } else { "not in the order of their numbers" };
    check.with_detail(format!("{} types with boxes, {order}, {gaps} unused bytes between them", types.len()))
}

/// The sections after the event boxes, as far as they can be reached.
fn check_tail(map: &Map, report: &mut Report, seen: &mut Seen) {
    let mut runs: Vec<&RecordRun> = Vec::new();
    let mut damage = None;
    for section in Section::all().take(Section::LEADING) {
        match map.section_run(section) {
            Ok(found) => runs.push(found),
            Err(error) => {
                damage = Some(error);
                break;
            }
        }
    }
    let mut layout_check = Check::new("trigger_layout");
    match map.tail() {
        Ok(tail) => {
            runs.extend(tail.runs());
            layout_check.detail = format!("{}: {}", tail.layout.name(), tail.choice.reason());
            if tail.layout == TriggerLayout::Scripts && tail.choice == super::Choice::BothFit {
                layout_check.detail.push_str(" (they differ in nothing but their zeros)");
            }
        }
        Err(error) => damage = damage.or(Some(error)),
    }
    report.checks.extend(runs.into_iter().map(|run| check_records(MapRecords::new(map, run), seen)));
    if let Some(error) = damage {
        let mut check = Check::new("sections");
        check.fail(error);
        report.checks.push(check);
    }
    report.checks.push(layout_check);
}

/// Checks that the last section ends at the last byte. Damage before it is reported once: here, unless an earlier check
/// reported it.
fn check_end(map: &Map, all_well: bool) -> Check {
    let mut check = Check::new("end");
    match map.end() {
        Ok(end) => {
            let cursor = Cursor::new(map.source().view("end").at(end));
            check.note(cursor.expect_end());
            if map.is_server_side().unwrap_or(false) {
                check.detail = "the file ends after its triggers, as files of the game's servers do".to_owned();
            }
        }
        Err(error) if all_well => check.fail(error),
        Err(_) => check.detail = "not reached".to_owned(),
    }
    check
}

fn damaged_waypoint(waypoint: &MapRecord<'_>, what: String) -> Error {
    Error::new(ErrorKind::Damaged { what: what.into() }, "waypoint_boxes", waypoint.offset())
}

/// Whether ids of waypoints are unique and links lead to waypoints.
fn check_links(map: &Map) -> Check {
    let mut check = Check::new("waypoint_links");
    let Ok(graph) = map.graph() else {
        return check.with_detail("not checked, as the waypoints cannot all be read");
    };
    if let Ok(waypoints) = map.boxes(BoxType::WaypointBox) {
        for record in graph.doubles.iter().filter_map(|&number| waypoints.get(number as usize)) {
            if let Some(id) = check.note(id_of(&record)) {
                check.fail(damaged_waypoint(&record, format!("another waypoint has id {id} already")));
            }
        }
    }
    let mut links = 0u64;
    for link in map.links() {
        links = links.saturating_add(1);
        if let Some(link) = check.note(link)
            && link.to.is_none()
        {
            let what = format!("a link leads to waypoint {}, which is not there", link.to_id);
            check.fail(damaged_waypoint(&link.from.1, what));
        }
    }
    check.with_detail(format!("{links} links"))
}
