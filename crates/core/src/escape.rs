//! Escapes text for people: nothing in it moves the cursor, runs a command of the terminal, hides, or reorders other text.
//!
//! Files and their names come from unknown sources. All text for people is escaped here: rows and entries in
//! [`write::text`](crate::write), messages in [`Error`](crate::Error). Of the outputs for programs, JSON writes such
//! characters as escapes, which are the same text, and the others keep text unchanged.

use std::borrow::Cow;
use std::fmt;

/// `text` with characters that are not visible escaped, as in `\n` and `\u{1b}`.
pub fn escape(text: &str) -> Cow<'_, str> {
    // Most text is ASCII, which is judged without a branch for each byte.
    let plain = text.bytes().fold(true, |plain, b| plain & matches!(b, b' '..=b'~'));
    if plain || !text.chars().any(is_unfit) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unfit(c) {
            clean.extend(c.escape_default());
        } else {
            clean.push(c);
        }
    }
    Cow::Owned(clean)
}

/// Whether a character is escaped: control characters, which terminals may run as commands (also from U+0080 on); line breaks of
/// Unicode; marks and overrides of direction; and characters without a width, which make different names look equal.
fn is_unfit(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{AD}'
                | '\u{61C}'
                | '\u{180E}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{FEFF}'
                | '\u{FFF9}'..='\u{FFFB}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

/// JSON whose texts have `\u` escapes for characters that are not visible text: its values are the same, and a terminal shows them.
pub fn visible_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    json.chars().for_each(|c| if is_unfit(c) { push_units(&mut out, c) } else { out.push(c) });
    out
}

/// Adds the `\u` escapes of JSON for a character.
fn push_units(out: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

/// JSON within an element `script` of HTML: `<`, which could end the element, and unfit characters become `\u` escapes.
pub fn script_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '<' || is_unfit(c) {
            push_units(&mut out, c);
        } else {
            out.push(c);
        }
    }
    out
}

/// Text as XML and HTML hold it, in elements and in attributes: any text is shown as it is, and does nothing else.
pub struct Xml<'t>(pub &'t str);

impl fmt::Display for Xml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        self.0.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            // XML has no way to say these.
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => f.write_char(char::REPLACEMENT_CHARACTER),
            c => f.write_char(c),
        })
    }
}

/// Passes text on, cleaned.
pub struct Escaped<'c, 'f>(pub(crate) &'c mut fmt::Formatter<'f>);

impl fmt::Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_str(&escape(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_script_ends_it_or_reorders_it() {
        assert_eq!(script_json("{\"\u{202e}<\":1}"), "{\"\\u202e\\u003c\":1}");
        assert_eq!(visible_json("{\"\u{9b}<\u{7f}ü\":1}"), "{\"\\u009b<\\u007fü\":1}");
    }

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(Xml("<a href='x'>&\"\u{1}").to_string(), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\u{fffd}");
    }

    #[test]
    fn nothing_reaches_a_terminal_that_is_no_visible_text() {
        for (text, shown) in [
            ("a\x1b[2Jb\n", "a\\u{1b}[2Jb\\n"),
            ("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}"),
            ("\u{9b}31m \u{85} \x7f", "\\u{9b}31m \\u{85} \\u{7f}"),
            ("\u{202e}gnp.exe\u{2069}", "\\u{202e}gnp.exe\\u{2069}"),
            ("a\u{200b}b\u{feff}\u{2028}", "a\\u{200b}b\\u{feff}\\u{2028}"),
        ] {
            assert_eq!(escape(text), shown);
            assert_eq!(escape(shown), shown, "cleaning twice changes nothing");
        }
        for text in ["", "plain \\ text ~", "日本 ü │ └── …", "עברית العربية", "👩"] {
            assert!(matches!(escape(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
