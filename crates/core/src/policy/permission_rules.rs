//! The rules of a policy on what agents ask to be allowed: `[[allow]]`, `[[deny]]` and `[[ask]]`.
//!
//! Owns how such a rule is spelled in the file. What it is for and what follows from it is the model's.

use flagpost_model::{
    glob::Glob,
    permission::rule::{PermissionRule, PermissionRuleKind, RuleInput},
};
use jiff::Timestamp;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

/// What a rule may say.
const KEYS: [&str; 6] = ["tool", "input", "exactly", "worker", "list", "until"];

/// The rules of a policy. An error says which rule is none, and why.
pub(super) fn read(document: &DocumentMut) -> Result<Vec<PermissionRule>, String> {
    let mut rules = Vec::new();
    for kind in PermissionRuleKind::ALL.iter().copied() {
        let Some(item) = document.get(kind.as_str()) else {
            continue;
        };
        let tables = item.as_array_of_tables();
        let tables = tables.ok_or_else(|| format!("write each rule under [[{kind}]]"))?;
        for (n, table) in (1..).zip(tables.iter()) {
            rules.push(rule(kind, table).map_err(|reason| format!("{kind} {n}: {reason}"))?);
        }
    }
    Ok(rules)
}

fn rule(kind: PermissionRuleKind, table: &Table) -> Result<PermissionRule, String> {
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(key)) {
        return Err(format!("{key} is none of {}", KEYS.join(", ")));
    }
    let text = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(item) => match item.as_str() {
            Some(text) => Ok(Some(text)),
            None => Err(format!("{key} is a text")),
        },
    };
    let glob = |key: &str| match text(key)? {
        None => Ok(None),
        Some(text) => text.parse::<Glob>().map(Some).map_err(super::words),
    };
    let tool = glob("tool")?;
    let input = match (text("input")?, text("exactly")?) {
        (Some(_), Some(_)) => return Err("input and exactly exclude each other".to_owned()),
        (Some(text), None) if tool.is_none() => RuleInput::Like(RuleInput::commands(text)?),
        (Some(text), None) => RuleInput::Like(text.parse().map_err(super::words)?),
        (None, Some("")) => return Err("exactly is empty".to_owned()),
        (None, Some(text)) => RuleInput::Exactly(text.to_owned()),
        // Whoever leaves all of them out by mistake must not allow every command.
        (None, None) if tool.is_none() => {
            return Err("it lacks input, exactly or tool".to_owned());
        }
        (None, None) => RuleInput::Any,
    };
    let list = text("list")?.map(str::parse).transpose();
    Ok(PermissionRule {
        kind,
        tool,
        input,
        worker: glob("worker")?,
        list: list.map_err(super::words)?,
        until: table.get("until").map(until).transpose()?,
    })
}

fn until(item: &Item) -> Result<Timestamp, String> {
    let text = item.as_str().map(str::to_owned);
    let text = text.or_else(|| item.as_datetime().map(ToString::to_string));
    let time = text.and_then(|it| it.parse().ok());
    time.ok_or_else(|| "until is a time, such as 2026-05-13T18:00:00Z".to_owned())
}

/// A rule as it stands in the file, its heading with it.
pub(super) fn spelled(rule: &PermissionRule) -> String {
    let mut table = Table::new();
    let mut put = |key: &str, text: Option<String>| {
        if let Some(text) = text {
            table.insert(key, value(text));
        }
    };
    put("tool", rule.tool.as_ref().map(ToString::to_string));
    match &rule.input {
        RuleInput::Any => {}
        RuleInput::Like(glob) => put("input", Some(glob.to_string())),
        RuleInput::Exactly(text) => put("exactly", Some(text.clone())),
    }
    put("worker", rule.worker.as_ref().map(ToString::to_string));
    put("list", rule.list.as_ref().map(ToString::to_string));
    put("until", rule.until.map(|it| it.to_string()));
    let mut tables = ArrayOfTables::new();
    tables.push(table);
    let mut document = DocumentMut::new();
    document.insert(rule.kind.as_str(), Item::ArrayOfTables(tables));
    document.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules_of(text: &str) -> Result<Vec<PermissionRule>, String> {
        read(&text.parse().unwrap())
    }

    #[test]
    fn what_is_spelled_is_read_again() {
        let whole = "[[deny]]\ntool = \"Web*\"\ninput = \"http:*\"\nworker = \"W{1,2}\"\nlist = \"web\"\n\
                     until = \"2026-05-13T18:00:00Z\"\n";
        let others = "[[ask]]\ntool = \"mcp__x__*\"\n[[allow]]\ninput = \"npm test\"\n[[allow]]\n\
                      exactly = \"for i in 1 2; do echo \\\"$i\\\"; done\\nls\"\n";
        let rules = rules_of(&format!("{whole}{others}")).unwrap();
        assert_eq!(rules.len(), 4);
        assert_eq!(spelled(&rules[0]), whole);
        for rule in &rules {
            assert_eq!(
                rules_of(&spelled(rule)).as_deref(),
                Ok(std::slice::from_ref(rule))
            );
        }
    }

    #[test]
    fn a_time_is_a_text_or_one_of_tomls_own() {
        for until in ["2026-05-13T18:00:00Z", "\"2026-05-13T20:00:00+02:00\""] {
            let rules = rules_of(&format!("[[allow]]\ninput = \"a\"\nuntil = {until}\n")).unwrap();
            assert_eq!(
                rules[0].until,
                "2026-05-13T18:00:00Z".parse().ok(),
                "{until}"
            );
        }
    }

    #[test]
    fn what_is_no_rule_says_which_and_why() {
        for (text, told) in [
            (
                "[[allow]]\nworker = \"W1\"",
                "allow 1: it lacks input, exactly or tool",
            ),
            (
                "[[allow]]\ninput = \"a\"\n[[allow]]\nx = 1",
                "allow 2: x is none of tool, input",
            ),
            ("[[deny]]\ninput = 1", "deny 1: input is a text"),
            ("[[deny]]\ninput = \"{\"", "deny 1: \"{\" is not a pattern"),
            (
                "[[ask]]\ninput = \"a\"\nexactly = \"a\"",
                "ask 1: input and exactly exclude each other",
            ),
            (
                "[[allow]]\ninput = \"a && b\"",
                "allow 1: no command is like \"a && b\"",
            ),
            ("[[allow]]\ninput = \" a\"", "allow 1: no command is like"),
            ("[[allow]]\nexactly = \"\"", "allow 1: exactly is empty"),
            (
                "[[allow]]\ninput = \"a\"\nuntil = \"tomorrow\"",
                "allow 1: until is a time, such as",
            ),
            (
                "[[allow]]\ninput = \"a\"\nuntil = 2026-05-13",
                "allow 1: until is a time, such as",
            ),
            ("[[allow]]\ninput = \"a\"\nlist = \"a b\"", "allow 1: "),
            ("[allow]\ninput = \"a\"", "write each rule under [[allow]]"),
            ("allow = [\"npm test\"]", "write each rule under [[allow]]"),
        ] {
            let error = rules_of(text).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
