use super::files::are_many;
use super::{Context, Exit, Failure, Format, Outcome};
use crate::archive::verify_deep;
use crate::asset::Asset;
use crate::report::{Check, Report};
use crate::table::{Value, Visitor};
use crate::write::text::Page;
use std::path::PathBuf;

/// Check everything that can be checked, and list what is wrong
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  assetq verify assets.bin\n  assetq verify GAME --deep\n  assetq verify -f json *.geometry | jq '.[] | select(.ok|not)'"
)]
pub(super) struct Args {
    /// The files; a folder means all files below it, a glob in quotes the matching files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Of archives, also decode every file and check its CRC-32
    #[arg(long)]
    deep: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let files = context.files(&args.files)?;
    let mut worst = Exit::Done;
    let mut verify = |path: &PathBuf| -> Option<(Asset, Report)> {
        let asset = context.open(path).map_err(|failure| context.failed(&failure)).ok()?;
        let report = context.with_progress("verify", |progress| {
            let mut report = asset.reader().verify(progress);
            if let Some(archive) = asset.reader().archive().filter(|_| args.deep) {
                verify_deep(archive, &mut report, progress);
            }
            report
        });
        if !report.is_ok() {
            worst = worst.max(Exit::Damaged);
        }
        Some((asset, report))
    };
    if context.format() == Format::Text {
        let mut page = context.page();
        for (asset, report) in files.iter().filter_map(&mut verify) {
            text(&mut page, &asset, &report)?;
            page.flush()?;
        }
    } else {
        let mut entries = context.entries(are_many(&args.files))?;
        for (asset, report) in files.iter().filter_map(&mut verify) {
            entries.add(|out| Ok(tree(&asset, &report, out)?))?;
        }
        entries.finish()?;
    }
    Ok(worst)
}

fn text(page: &mut Page<impl std::io::Write>, asset: &Asset, report: &Report) -> Result<(), Failure> {
    let verdict = if report.is_ok() { "ok" } else { "damaged" };
    page.line(&format!("{}: {} {verdict}", asset.source().name(), asset.format()))?;
    for check in &report.checks {
        let mark = if check.is_ok() { "ok " } else { "BAD" };
        let colon = if check.detail.is_empty() { "" } else { ": " };
        page.line(&format!("  {mark} {}{colon}{}", check.name, check.detail))?;
        for finding in check.findings() {
            page.line(&format!("        {finding}"))?;
        }
        if let Some(more) = check.found().checked_sub(check.findings().len() as u64).filter(|&m| m > 0) {
            page.line(&format!("        … and {more} more"))?;
        }
    }
    Ok(())
}

fn tree(asset: &Asset, report: &Report, out: &mut dyn Visitor) -> crate::Result<()> {
    out.begin_map()?;
    out.field("file", &asset.source().name().into())?;
    out.field("format", &asset.format().name().into())?;
    out.field("ok", &report.is_ok().into())?;
    out.key("checks")?;
    out.begin_list()?;
    report.checks.iter().try_for_each(|c| check(c, out))?;
    out.end_list()?;
    out.end_map()
}

fn check(check: &Check, out: &mut dyn Visitor) -> crate::Result<()> {
    out.begin_map()?;
    out.field("name", &Value::text(&check.name))?;
    out.field("ok", &check.is_ok().into())?;
    out.field("detail", &Value::text(&check.detail))?;
    out.field("found", &check.found().into())?;
    out.key("findings")?;
    out.begin_list()?;
    for finding in check.findings() {
        out.begin_map()?;
        out.field("part", &finding.part().into())?;
        out.field("offset", &finding.offset().into())?;
        out.field("what", &Value::owned(finding.kind().to_string()))?;
        out.end_map()?;
    }
    out.end_list()?;
    out.end_map()
}
