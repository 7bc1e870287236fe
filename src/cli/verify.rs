use super::entries::object;
use super::files::are_many;
use super::{Context, Exit, Failure, Format, Outcome};
use crate::archive::verify_deep;
use crate::asset::Asset;
use crate::report::Report;
use crate::table::Value;
use crate::write::text::TextPage;
use std::path::PathBuf;

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = Format::ROWS;

/// Check everything that can be checked, and list what is wrong
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  assetq verify assets.bin\n  assetq verify wows --deep\n  assetq verify -f json *.geometry | jq '.[] | select(.ok|not)'"
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
    let reports = files.iter().filter_map(|path| {
        let asset = context.or_failed(context.open(path))?;
        let report = context.with_progress("verify", |progress| {
            let mut report = asset.reader().verify(progress);
            if let Some(archive) = asset.reader().archive().filter(|_| args.deep) {
                verify_deep(archive, &mut report, progress);
            }
            report
        });
        if !report.is_ok() {
            context.worsen(Exit::Damaged);
        }
        Some((asset, report))
    });
    if context.format() == Format::Text {
        let mut page = context.page();
        for (asset, report) in reports {
            text(&mut page, &asset, &report)?;
            page.flush()?;
        }
        return Ok(());
    }
    let mut entries = context.entries(are_many(&args.files))?;
    for (asset, report) in reports {
        entries.add(|out| Ok(out.value(&tree(&asset, &report))?))?;
    }
    entries.finish()
}

fn text(page: &mut TextPage<impl std::io::Write>, asset: &Asset, report: &Report) -> Result<(), Failure> {
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

fn tree<'r>(asset: &'r Asset, report: &'r Report) -> Value<'r> {
    let checks = report.checks.iter().map(|check| {
        let findings = check.findings().iter().map(|finding| {
            let what = Value::owned(finding.kind().to_string());
            object([("part", finding.part().into()), ("offset", finding.offset().into()), ("what", what)])
        });
        object([
            ("name", Value::text(&check.name)),
            ("ok", check.is_ok().into()),
            ("detail", Value::text(&check.detail)),
            ("found", check.found().into()),
            ("findings", Value::List(findings.collect())),
        ])
    });
    object([
        ("file", asset.source().name().into()),
        ("format", asset.format().name().into()),
        ("ok", report.is_ok().into()),
        ("checks", Value::List(checks.collect())),
    ])
}
