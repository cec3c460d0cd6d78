//! The verbs by their purpose, as 'flagpost --help' lists them.
//!
//! Owns the one table of groups. The parser knows no headings for verbs: the page is made here, from
//! the table and from the verbs' own first lines, and manual and completions keep its order.

use clap::{Command, CommandFactory};

use crate::args::Cli;

/// Each group, daily verbs first.
const GROUPS: &[(&str, &str)] = &[
    ("Start here", "init demo status doctor"),
    (
        "Tasks",
        "add list show edit note ready graph import export search undo reopen cancel rm task",
    ),
    (
        "Run agents",
        "run stop answer logs attach session diff review approve return land open worktree",
    ),
    (
        "As an agent",
        "claim done fail stuck release instructions mcp",
    ),
    (
        "Approvals",
        "assign inbox ratify reject allow deny permission outbox relay policy",
    ),
    ("Fleet", "worker msg reserve hooks hook"),
    ("Watch", "cockpit board history"),
    ("Other programs", "bridge coord schema"),
    ("Setup", "daemon fleet config notify completions man index"),
];

/// Every verb in its place.
fn listed() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().flat_map(|(_, names)| names.split(' '))
}

/// The program, with its verbs in their groups.
pub fn program() -> Command {
    let program = Cli::command().mut_subcommands(|verb| {
        let place = listed().position(|name| name == verb.get_name());
        verb.display_order(place.unwrap_or(usize::MAX))
    });
    let styles = program.get_styles();
    let (heading, literal) = (*styles.get_header(), *styles.get_literal());
    let mut page = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (group, names) in GROUPS {
        page += &format!("\n{heading}{group}:{heading:#}\n");
        for verb in names
            .split(' ')
            .filter_map(|it| program.find_subcommand(it))
        {
            let name = verb.get_name();
            let about = verb.get_about().map(ToString::to_string);
            page += &format!(
                "  {literal}{name:<12}{literal:#}  {}\n",
                about.unwrap_or_default()
            );
        }
    }
    page += &format!("\n{heading}Options of every command:{heading:#}\n{{options}}{{after-help}}");
    program.help_template(page)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_visible_verb_stands_in_exactly_one_group() {
        let listed: Vec<&str> = listed().collect();
        let program = Cli::command();
        let visible = program.get_subcommands().filter(|verb| !verb.is_hide_set());
        let visible: BTreeSet<&str> = visible.map(Command::get_name).collect();
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), visible);
        assert_eq!(listed.len(), visible.len(), "one is listed twice");
        for line in super::program().render_help().to_string().lines() {
            let is_verb = line.starts_with("  ") && !line.trim_start().starts_with('-');
            assert!(!is_verb || line.chars().count() <= 60, "too wide: {line}");
        }
    }
}
