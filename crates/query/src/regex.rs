//! Regular expressions that people write, with a bound on their cost.

use regex_syntax::hir::{Hir, HirKind};

/// The limit of characters and classes of an expression with its repetitions expanded: each may be tested for each byte
/// of a text. An expression that is longer without repetitions may have as many as its length.
const MOST: u64 = 2048;

/// The parsed expression.
///
/// # Errors
/// Why an expression is invalid or repeats too much, as a message.
pub fn parse(pattern: &str) -> Result<Hir, String> {
    let mut parser = regex_syntax::ParserBuilder::new().utf8(false).build();
    let hir = parser.parse(pattern).map_err(|error| last_line(&error.to_string()))?;
    let (parts, most) = (parts(&hir), MOST.max(pattern.len() as u64));
    if parts > most {
        return Err(format!("its repetitions come to {parts} characters, more than {most}"));
    }
    Ok(hir)
}

/// The parser bounds how deep expressions nest.
fn parts(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(_) => 1,
        HirKind::Capture(capture) => parts(&capture.sub),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            parts(&repetition.sub).max(1).saturating_mul(times.into())
        }
        HirKind::Concat(all) | HirKind::Alternation(all) => all.iter().map(parts).fold(0, u64::saturating_add),
    }
}

/// The last line of an error, after the drawing of the position.
pub(crate) fn last_line(message: &str) -> String {
    let last = message.lines().last().unwrap_or(message);
    last.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_bounded_together() {
        for good in [
            r"^JSD0\d\d_",
            "a{0,2048}",
            "(a{30}b{30}){30}",
            ".*",
            "(x+x+)+y",
            r"[0-9a-f]{16}\.dds$",
            "",
            &"ab".repeat(5000),
        ] {
            assert!(parse(good).is_ok(), "{good}");
        }
        for bad in ["a{0,50000}", "a{2049,}", "(a{100}){100}", "((a{0,90}){0,90}){0,90}", "(ab|cd){600}"] {
            assert!(parse(bad).unwrap_err().contains("its repetitions come to"), "{bad}");
        }
        assert_eq!(parse("a(").unwrap_err(), "unclosed group");
    }
}
