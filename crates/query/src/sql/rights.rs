//! The rights of statements: to read the files that were named, and to work in memory.

use super::names::is_one_of;
use crate::threads::lock;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Default)]
pub(super) struct Rights {
    /// Whether the statements of the session itself run, which know what they do.
    own: AtomicBool,
    refused: Mutex<Option<&'static str>>,
    /// Whether a statement that was prepared since [`Rights::take_read`] reads a table.
    read: AtomicBool,
    /// Whether a pragma has changed whether LIKE distinguishes case.
    changes_like: AtomicBool,
}

impl Rights {
    pub(super) fn as_own<T>(&self, run: impl FnOnce() -> T) -> T {
        let before = self.own.swap(true, Ordering::Relaxed);
        let ran = run();
        self.own.store(before, Ordering::Relaxed);
        ran
    }

    /// Answers SQLite, which asks for everything that a statement is about to do.
    pub(super) fn answer(&self, asked: AuthContext<'_>) -> Authorization {
        if let AuthAction::Read { .. } = asked.action {
            self.read.store(true, Ordering::Relaxed);
        }
        if let AuthAction::Pragma { pragma_name, pragma_value: Some(_) } = asked.action
            && is_one_of(LIKE, pragma_name)
        {
            self.changes_like.store(true, Ordering::Relaxed);
        }
        match why_not(asked.action) {
            Some(why) if !self.own.load(Ordering::Relaxed) => {
                *lock(&self.refused) = Some(why);
                Authorization::Deny
            }
            _ => Authorization::Allow,
        }
    }

    /// Whether LIKE may distinguish case, because a pragma says so.
    pub(super) fn may_distinguish_case(&self) -> bool {
        self.changes_like.load(Ordering::Relaxed)
    }

    /// Whether a statement read a table since this was asked last.
    pub(super) fn take_read(&self) -> bool {
        self.read.swap(false, Ordering::Relaxed)
    }

    /// Why a statement was refused since this was asked last.
    pub(super) fn take_refused(&self) -> Option<&'static str> {
        lock(&self.refused).take()
    }
}

const MEMORY: &str = ":memory:";
/// Pragmas that only read; the argument of some is a name.
const TELLING: &str = "application_id collation_list compile_options database_list encoding foreign_key_check \
    foreign_key_list freelist_count function_list index_info index_list index_xinfo integrity_check journal_mode \
    module_list page_count page_size pragma_list quick_check schema_version user_version";
/// The pragma that makes LIKE distinguish case.
const LIKE: &str = "case_sensitive_like";
/// Pragmas that tell something, or change no file.
const WITH_ARGUMENT: &str = "case_sensitive_like foreign_key_check foreign_key_list index_info index_list index_xinfo \
    integrity_check quick_check table_info table_list table_xinfo";
/// Functions that reach beyond the databases, as far as builds of SQLite have them.
const REACHING: &str = "edit fts3_tokenizer load_extension readfile writefile";

/// Why a statement may not do something, where it may not. What writes to a schema need not be asked: all of them are in
/// memory, or databases that were opened to be read.
/// Whether no statement may call the function of this name.
pub(super) fn is_forbidden(function: &str) -> bool {
    is_one_of(REACHING, function)
}

fn why_not(action: AuthAction<'_>) -> Option<&'static str> {
    match action {
        // VACUUM INTO attaches what it writes.
        AuthAction::Attach { filename } if filename == MEMORY => None,
        AuthAction::Attach { .. } => {
            Some("statements reach no other files than those that the command names; --into writes a new database")
        }
        AuthAction::Detach { .. } => Some("the files that the command names stay"),
        AuthAction::Pragma { pragma_name, pragma_value: None } if is_one_of(TELLING, pragma_name) => None,
        AuthAction::Pragma { pragma_name, .. } if is_one_of(WITH_ARGUMENT, pragma_name) => None,
        AuthAction::Pragma { .. } => Some("only pragmas that tell something may be used"),
        AuthAction::Function { function_name } if is_forbidden(function_name) => {
            Some("functions that reach other files may not be used")
        }
        AuthAction::Unknown { .. } => Some("it is not known whether this only reads"),
        _ => None,
    }
}
