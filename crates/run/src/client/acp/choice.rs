//! Which of what an agent offers is chosen: the answer to a request, the mode that it works in.
//!
//! Owns that an option is known by its kind and never by its id, and that none is chosen that is for ever: rules are
//! the operator's. Owns too that an agent works in a mode in which it asks. Pure.

use super::wire::{OfferedModes, OptionKind, PermissionOption};

/// Modes in which an agent does its work and asks for what may do harm, the best first. A name is compared without
/// what stands between its words.
const ASKING: &[&str] = &["default", "build", "agent"];

/// Modes in which something else than a person allows what may do harm: a model, or nobody.
const UNASKED: &[&str] = &[
    "agentfullaccess",
    "allowall",
    "auto",
    "autoapprove",
    "autopilot",
    "bypasspermissions",
    "dontask",
    "fullaccess",
    "yolo",
];

/// Modes in which it asks for all that is no reading, or does nothing else: better than one in which nobody is asked.
const ASKING_MORE: &[&str] = &["readonly"];

/// The option that allows this once, or that refuses it once; none where the agent offers no such.
pub(super) fn option(options: &[PermissionOption], allows: bool) -> Option<&str> {
    let wanted = match allows {
        true => OptionKind::AllowOnce,
        false => OptionKind::RejectOnce,
    };
    let found = options.iter().find(|it| it.kind == wanted);
    found.map(|it| it.option_id.as_str())
}

/// The mode that the agent is to work in; none where nobody would be asked in any of those that it offers.
pub(super) fn mode(offered: &OfferedModes) -> Option<&str> {
    let ids = || offered.available_modes.iter().map(|it| it.id.as_str());
    let first_of = |names: &[&str]| {
        let mut names = names.iter();
        names.find_map(|name| ids().find(|id| plain(id) == **name))
    };
    let current = Some(offered.current_mode_id.as_str());
    let current = current.filter(|id| !UNASKED.contains(&plain(id).as_str()));
    first_of(ASKING)
        .or(current)
        .or_else(|| first_of(ASKING_MORE))
}

fn plain(id: &str) -> String {
    let letters = id.chars().filter(|c| c.is_ascii_alphanumeric());
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::wire::ModeId, *};

    fn offered(ids: &[&str], current: &str) -> OfferedModes {
        let ids = ids.iter().map(|id| ModeId {
            id: (*id).to_owned(),
        });
        OfferedModes {
            current_mode_id: current.to_owned(),
            available_modes: ids.collect(),
        }
    }

    #[test]
    fn an_option_is_known_by_its_kind_and_none_is_for_ever() {
        let option_of = |id: &str, kind| PermissionOption {
            option_id: id.to_owned(),
            kind,
        };
        let gemini = [
            option_of("proceed_always", OptionKind::AllowAlways),
            option_of("proceed_once", OptionKind::AllowOnce),
            option_of("cancel", OptionKind::RejectOnce),
        ];
        let lying = [
            option_of("allow_once", OptionKind::AllowAlways),
            option_of("reject_once", OptionKind::RejectAlways),
            option_of("reject", OptionKind::Unknown),
        ];
        for (options, allows, chosen) in [
            (&gemini[..], true, Some("proceed_once")),
            (&gemini, false, Some("cancel")),
            (&lying, true, None),
            (&lying, false, None),
            (&[], true, None),
        ] {
            assert_eq!(option(options, allows), chosen);
        }
    }

    #[test]
    fn an_agent_works_in_a_mode_in_which_it_asks() {
        for (ids, current, chosen) in [
            // Gemini CLI and opencode, as recorded.
            (
                &["default", "autoEdit", "yolo", "plan"][..],
                "default",
                Some("default"),
            ),
            (&["build", "plan"], "build", Some("build")),
            (&["default", "auto_edit"], "yolo", Some("default")),
            (&["plan", "build"], "plan", Some("build")),
            // Adapters that were only read of.
            (
                &["read-only", "auto", "full-access"],
                "auto",
                Some("read-only"),
            ),
            (
                &["acceptEdits", "default", "bypassPermissions"],
                "acceptEdits",
                Some("default"),
            ),
            (&["ask", "code"], "ask", Some("ask")),
            (&["yolo", "Full-Access"], "yolo", None),
        ] {
            assert_eq!(mode(&offered(ids, current)), chosen, "{ids:?}");
        }
    }
}
