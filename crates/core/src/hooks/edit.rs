//! A client's settings with our entries, and without them.
//!
//! Owns the change of the text: what others wrote stays byte for byte, comments included, and what is there
//! as it should be is not touched. Pure.

use flagpost_model::{
    client::Client,
    hook::{
        HookEvent,
        settings::{HookGuard, event_of, groups},
    },
};
use jsonc_parser::{
    ParseOptions,
    cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode},
};
use serde::de::IgnoredAny;
use serde_json::Value;

/// An entry of ours that stands in a client's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEntry {
    /// The event.
    pub event: HookEvent,
    /// What the client calls.
    pub command: String,
    /// Where it stands: in which group of its event, and where in that.
    pub place: (usize, usize),
}

/// What is wrong with a settings file, in words.
type Edited<T> = Result<T, String>;

/// Some editors begin a file with it; it stays, and is no part of what they wrote.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Where the lists of hooks are.
const HOOKS: &str = "hooks";

/// Claude Code's word that all hooks are off.
const DISABLED: &str = "disableAllHooks";

/// The entries of ours.
pub(super) fn entries(text: &str) -> Edited<Vec<HookEntry>> {
    let root = parse(text)?;
    let Some(hooks) = root.object_value().and_then(|it| it.object_value(HOOKS)) else {
        return Ok(Vec::new());
    };
    let lists = hooks.properties().into_iter();
    let lists = lists.filter_map(|it| it.array_value());
    let groups = lists.flat_map(|list| list.elements().into_iter().enumerate());
    let entries = groups.flat_map(|(group, it)| {
        let commands = commands(&it).into_iter().enumerate();
        commands.filter_map(move |(index, command)| {
            Some(HookEntry {
                event: event_of(&command)?,
                command,
                place: (group, index),
            })
        })
    });
    Ok(entries.collect())
}

/// Whether all hooks are off.
pub(super) fn is_disabled(text: &str) -> Edited<bool> {
    let whole = parse(text)?.object_value();
    let value = whole.and_then(|it| it.get(DISABLED)?.to_serde_value());
    Ok(value == Some(Value::Bool(true)))
}

/// The text with an entry for each event, no text being an empty file.
pub(super) fn with(text: &str, client: Client, program: &str, guard: HookGuard) -> Edited<String> {
    let root = parse(text)?;
    let wanted = groups(client, program, guard);
    let no_object = || "it holds no JSON object".to_owned();
    let whole = root.object_value_or_create().ok_or_else(no_object)?;
    if client == Client::Cursor && whole.get("version").is_none() {
        whole.append("version", CstInputValue::from(1_u32));
    }
    let names = whole.properties().into_iter().map(|it| it.decoded_name());
    if names.filter(|it| it.as_deref() == Some(HOOKS)).count() > 1 {
        // Its client reads one of them, and which is its own affair.
        return Err(format!("it has {HOOKS:?} more than once"));
    }
    let no_hooks = || format!("its {HOOKS:?} is no object");
    let hooks = whole.object_value_or_create(HOOKS).ok_or_else(no_hooks)?;
    let is_wanted = |group: &CstNode| {
        let value = group.to_serde_value();
        wanted.iter().any(|(_, it)| Some(it) == value.as_ref())
    };
    take_out(&hooks, &is_wanted);
    for (name, group) in &wanted {
        let no_list = || format!("its {name:?} below {HOOKS:?} is no list");
        let list = hooks.array_value_or_create(name).ok_or_else(no_list)?;
        let is_there = |it: &CstNode| it.to_serde_value().as_ref() == Some(group);
        if !list.elements().iter().any(is_there) {
            list.append(input(group));
        }
    }
    Ok(ended(marked_as(text, &root), text))
}

/// The text without entries of ours, and without what only they needed.
pub(super) fn without(text: &str) -> Edited<String> {
    let root = parse(text)?;
    let Some(whole) = root.object_value() else {
        return Ok(text.to_owned());
    };
    if let Some(hooks) = whole.object_value(HOOKS) {
        take_out(&hooks, &|_| false);
        if hooks.properties().is_empty()
            && let Some(hooks) = whole.get(HOOKS)
        {
            hooks.remove();
        }
    }
    Ok(marked_as(text, &root))
}

/// The changed text, with a mark where there was one.
fn marked_as(text: &str, root: &CstRootNode) -> String {
    let mark = text.starts_with(BYTE_ORDER_MARK);
    let mark = mark.then_some(BYTE_ORDER_MARK);
    mark.into_iter().chain(root.to_string().chars()).collect()
}

/// Takes our entries out of all lists, but the groups that are to stay, and lists that are empty by that.
fn take_out(hooks: &CstObject, stays: &dyn Fn(&CstNode) -> bool) {
    for property in hooks.properties() {
        let Some(list) = property.array_value() else {
            continue;
        };
        let had_some = !list.elements().is_empty();
        for group in list.elements() {
            let has_ours = commands(&group).iter().any(|it| event_of(it).is_some());
            if has_ours && !stays(&group) {
                take_out_of(group);
            }
        }
        if had_some && list.elements().is_empty() {
            property.remove();
        }
    }
}

/// Takes our hooks out of a group; the group where it has no others.
fn take_out_of(group: CstNode) {
    let Some(own) = group.as_object().and_then(|it| it.array_value(HOOKS)) else {
        return group.remove();
    };
    let is_ours = |hook: &CstNode| command(hook).is_some_and(|it| event_of(&it).is_some());
    let (ours, others): (Vec<_>, Vec<_>) = own.elements().into_iter().partition(is_ours);
    match others.is_empty() {
        true => group.remove(),
        false => ours.into_iter().for_each(CstNode::remove),
    }
}

/// The commands of a group: its own, or those of its hooks.
fn commands(group: &CstNode) -> Vec<String> {
    let hooks = group.as_object().and_then(|it| it.array_value(HOOKS));
    let hooks = hooks.as_ref().map(CstArray::elements).unwrap_or_default();
    let each = hooks.iter().chain([group]);
    each.filter_map(command).collect()
}

fn command(hook: &CstNode) -> Option<String> {
    let command = hook.as_object()?.get("command")?.value()?;
    command.as_string_lit()?.decoded_value().ok()
}

/// Why a client does not read a text that we understand, as its tested version showed.
pub(super) fn unread(text: &str, client: Client) -> Option<String> {
    let bare = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let strict = |text: &str| serde_json::from_str::<IgnoredAny>(text).err();
    let why = match client {
        Client::Claude => strict(bare)?.to_string(),
        Client::Codex => strict(text)?.to_string(),
        Client::Gemini if bare.len() < text.len() => "it begins with a byte order mark".to_owned(),
        Client::Gemini => {
            let options = ParseOptions {
                allow_trailing_commas: false,
                ..options()
            };
            let read = CstRootNode::parse(text, &options);
            read.err()?.to_string()
        }
        Client::Cursor | Client::Opencode | Client::Acp | Client::Aider => return None,
    };
    Some(why)
}

/// A text is JSON, at most with comments and with commas at the ends of lists.
fn parse(text: &str) -> Edited<CstRootNode> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    CstRootNode::parse(text, &options()).map_err(|error| format!("it is no JSON: {error}"))
}

fn options() -> ParseOptions {
    ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
        ..ParseOptions::default()
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(it) => CstInputValue::Bool(*it),
        Value::Number(it) => CstInputValue::Number(it.to_string()),
        Value::String(it) => CstInputValue::String(it.clone()),
        Value::Array(all) => CstInputValue::Array(all.iter().map(input).collect()),
        Value::Object(all) => {
            let all = all.iter().map(|(name, it)| (name.clone(), input(it)));
            CstInputValue::Object(all.collect())
        }
    }
}

/// A file that we begin ends with a line break.
fn ended(text: String, before: &str) -> String {
    match before.trim().is_empty() && !text.ends_with('\n') {
        true => text + "\n",
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEIRS: &str = r#"{
  // mine
  "model": "opus",
  "hooks": {
    "Stop": [
      { "hooks": [ { "type": "command", "command": "say done" } ] }
    ],
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type":"command","command":"guard.sh"}]}]
  },
  "env": {"A":  "1"}
}
"#;

    fn installed(text: &str) -> String {
        with(text, Client::Claude, "flagpost", HookGuard::DenyReserved).unwrap()
    }

    #[test]
    fn what_others_wrote_stays_byte_for_byte() {
        for theirs in [
            THEIRS,
            "{}",
            "{}\n",
            "{\"hooks\": {}}",
            "{\"a\":1}",
            "{\n\t\"a\": [1,\n\t2]\n}",
            "{\"hooks\":{\"Stop\":[]},\"b\":2}",
            "\u{feff}{\r\n  \"a\": 1\r\n}\r\n",
        ] {
            let ours = installed(theirs);
            let lines = theirs.lines().filter(|it| it.trim().len() > 3);
            for line in lines.filter(|_| theirs.lines().count() > 1) {
                let brackets = ['}', ']', ',', '{', '['];
                let kept = line.trim().trim_matches(brackets);
                assert!(ours.contains(kept), "{line} is not in\n{ours}");
            }
            assert_eq!(installed(&ours), ours, "a second time changes nothing");
            let marks = |it: &str| it.matches(BYTE_ORDER_MARK).count();
            assert_eq!(marks(&ours), marks(theirs), "{ours}");
            let left = parse(&without(&ours).unwrap()).unwrap().to_serde_value();
            let mut before = parse(theirs).unwrap().to_serde_value().unwrap();
            // Lists that were empty before are not kept apart from those that became so.
            if before["hooks"]
                .as_object()
                .is_some_and(|it| it.values().all(|it| it == &serde_json::json!([])))
            {
                before.as_object_mut().unwrap().shift_remove("hooks");
            }
            assert_eq!(left, Some(before), "{theirs}");
        }
    }

    #[test]
    fn a_client_reads_what_its_tested_version_reads() {
        use Client::{Claude, Codex, Gemini};
        for (text, readers) in [
            ("{}", &[Claude, Codex, Gemini][..]),
            ("\u{feff}{}", &[Claude]),
            ("{ // mine\n}", &[Gemini]),
            ("{\"a\": 1,}", &[]),
        ] {
            let all = [Claude, Codex, Gemini].into_iter();
            let read: Vec<Client> = all.filter(|it| unread(text, *it).is_none()).collect();
            assert_eq!(read, readers, "{text}");
        }
    }

    #[test]
    fn our_entries_are_found_and_renewed() {
        assert_eq!(entries(THEIRS).unwrap(), []);
        let ours = installed(THEIRS);
        assert_eq!(entries(&ours).unwrap().len(), 8);
        let told = with(&ours, Client::Claude, "/opt/flagpost", HookGuard::TellOnly).unwrap();
        let entries = entries(&told).unwrap();
        assert_eq!(entries.len(), 7, "{told}");
        assert!(
            entries
                .iter()
                .all(|it| it.command.starts_with("/opt/flagpost hook "))
        );
        assert!(told.contains("guard.sh") && told.contains("say done"));
    }

    #[test]
    fn a_hook_of_others_in_our_group_stays() {
        let mixed = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"flagpost hook stop --agent claude"},{"type":"command","command":"mine"}]}]}}"#;
        let left = without(mixed).unwrap();
        assert!(
            left.contains("mine") && !left.contains("flagpost"),
            "{left}"
        );
    }

    #[test]
    fn what_is_no_settings_file_is_refused() {
        for bad in [
            "{",
            "[]",
            "7",
            "{'a': 1}",
            "{\"hooks\": []}",
            "{\"hooks\": {\"Stop\": {}}}",
            "{a: 1}",
            "{\"hooks\": {}, \"hooks\": {}}",
        ] {
            let told = with(bad, Client::Claude, "flagpost", HookGuard::TellOnly);
            assert!(told.is_err(), "{bad}: {told:?}");
        }
        let cursor = with("", Client::Cursor, "flagpost", HookGuard::TellOnly).unwrap();
        assert!(
            cursor.contains("\"version\": 1") && cursor.ends_with("}\n"),
            "{cursor}"
        );
    }
}
