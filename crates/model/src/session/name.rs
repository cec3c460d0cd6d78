//! How sessions are named.
//!
//! Owns the three tiers of `tree.md` §3: the group that was asked for, the group all open tasks
//! share, else a fixed word. A name is always a [`SessionId`], so it is safe as a directory name.

use jiff::civil::DateTime;

use crate::{
    id::{InvalidId, MAX_LEN, SessionId},
    plan::is_open,
    task::Outline,
};

const FALLBACK: &str = "exec-session";
const INTERRUPTED: &str = "interrupted";
/// `-20260205-143022`
const STAMP_LEN: usize = 16;

/// The id of a session that starts now: `{group}-{YYYYMMDD}-{HHMMSS}`, in UTC.
///
/// What an id cannot hold becomes `-`. A group named like a recovered session's directory is
/// prefixed, so that the two never look alike.
pub fn session_name(group: Option<&str>, at: DateTime) -> Result<SessionId, InvalidId> {
    let stem = match id_text(group.unwrap_or_default(), MAX_LEN - STAMP_LEN).as_str() {
        "" => FALLBACK.to_owned(),
        INTERRUPTED => format!("group-{INTERRUPTED}"),
        stem => stem.to_owned(),
    };
    format!("{stem}-{}", stamp(at)).parse()
}

/// The name under which what an interrupted session left is kept. `rand` tells two apart that
/// were recovered within one second.
pub fn interrupted_name(at: DateTime, rand: &str) -> Result<SessionId, InvalidId> {
    let head = format!("{INTERRUPTED}-{}", stamp(at));
    match id_text(rand, MAX_LEN - head.len() - 1).as_str() {
        "" => head.parse(),
        rand => format!("{head}-{rand}").parse(),
    }
}

/// Whether a directory of this name holds what an interrupted session left.
pub fn is_interrupted(name: &SessionId) -> bool {
    name.as_str()
        .strip_prefix(INTERRUPTED)
        .and_then(|rest| rest.strip_prefix('-'))
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The time in a session's name, if it has one.
pub fn named_at(name: &SessionId) -> Option<DateTime> {
    let parts: Vec<&str> = name.as_str().split('-').collect();
    let digits = |text: &str, len| text.len() == len && text.bytes().all(|b| b.is_ascii_digit());
    parts.windows(2).rev().find_map(|pair| match pair {
        [date, time] if digits(date, 8) && digits(time, 6) => {
            DateTime::strptime("%Y%m%d%H%M%S", format!("{date}{time}")).ok()
        }
        _ => None,
    })
}

/// The group that every open task has, if there is one. Open is what a run could still touch.
pub fn common_group(outlines: &[Outline]) -> Option<&str> {
    let mut groups = outlines
        .iter()
        .filter(|outline| is_open(&outline.state))
        .map(|outline| outline.group.as_deref().map(str::trim).unwrap_or_default());
    let first = groups.next()?;
    (!first.is_empty() && groups.all(|group| group == first)).then_some(first)
}

fn stamp(at: DateTime) -> String {
    format!(
        "{:04}{:02}{:02}-{:02}{:02}{:02}",
        at.year(),
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second()
    )
}

/// `text` in the alphabet of ids, with no doubled or outer separators; may be empty.
fn id_text(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_alphanumeric() || "._-".contains(c) {
            c
        } else {
            '-'
        };
        let separates = !c.is_ascii_alphanumeric();
        if separates && (out.is_empty() || (c == '-' && out.ends_with('-'))) {
            continue;
        }
        out.push(c);
    }
    out.truncate(limit);
    out.truncate(out.trim_end_matches(['.', '_', '-']).len());
    out
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;
    use crate::task::State;
    use crate::task::Task;

    fn at() -> DateTime {
        date(2026, 2, 5).at(14, 30, 22, 0)
    }

    fn named(group: Option<&str>) -> String {
        session_name(group, at()).unwrap().to_string()
    }

    fn open(id: u64, group: Option<&str>) -> Outline {
        let mut task = Task::new(id.into(), "Set up the schema");
        task.group = group.map(str::to_owned);
        Outline::from(&task)
    }

    #[test]
    fn a_group_names_the_session() {
        assert_eq!(named(Some("user-auth")), "user-auth-20260205-143022");
        assert_eq!(named(None), "exec-session-20260205-143022");
        assert_eq!(named(Some(" ../ü ")), "exec-session-20260205-143022");
        assert_eq!(named(Some("../evil")), "evil-20260205-143022");
        assert_eq!(named(Some("Phase 1: API")), "Phase-1-API-20260205-143022");
        assert_eq!(
            named(Some("interrupted")),
            "group-interrupted-20260205-143022"
        );
        assert_eq!(named(Some(&"x".repeat(90))).len(), MAX_LEN);
    }

    #[test]
    fn an_interrupted_session_has_its_own_name() {
        let name = interrupted_name(at(), "4f2a").unwrap();
        assert_eq!(name.as_str(), "interrupted-20260205-143022-4f2a");
        assert!(is_interrupted(&name));
        assert!(is_interrupted(
            &"interrupted-20260206-091500".parse().unwrap()
        ));
        assert!(!is_interrupted(
            &session_name(Some("interrupted"), at()).unwrap()
        ));
        assert!(interrupted_name(at(), &"é/".repeat(99)).is_ok());
    }

    #[test]
    fn a_name_tells_when() {
        for name in [
            "user-auth-20260205-143022",
            "exec-session-20260205-143022-2",
            "interrupted-20260205-143022-4f2a",
            "12345678-123456-20260205-143022",
        ] {
            assert_eq!(named_at(&name.parse().unwrap()), Some(at()), "{name}");
        }
        for name in ["notes", "auth-20261305-143022", "a-2026020-143022"] {
            assert_eq!(named_at(&name.parse().unwrap()), None, "{name}");
        }
    }

    #[test]
    fn only_open_tasks_vote_on_the_group() {
        let mut done = open(3, Some("billing"));
        done.state = State::Completed;
        let auth = || open(1, Some("auth"));
        assert_eq!(common_group(&[auth(), auth(), done.clone()]), Some("auth"));
        assert_eq!(common_group(&[auth(), open(2, None)]), None);
        assert_eq!(common_group(&[auth(), open(2, Some("web"))]), None);
        assert_eq!(common_group(&[open(1, Some("  "))]), None);
        assert_eq!(common_group(&[done]), None);
    }

    proptest! {
        #[test]
        fn any_group_and_any_time_make_an_id(group in any::<String>(), rand in any::<String>(), year in 1i16..=9999) {
            let at = date(year, 12, 31).at(23, 59, 59, 0);
            prop_assert!(session_name(Some(&group), at).is_ok());
            prop_assert!(interrupted_name(at, &rand).is_ok());
        }
    }
}
