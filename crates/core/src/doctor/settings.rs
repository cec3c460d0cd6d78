//! The settings and the policies: each can be read, and each name means something.

use std::path::PathBuf;

use flagpost_model::finding::Code;

use super::{Finding, describe, world::World};
use crate::{
    config::{self, Config},
    error::Result,
    policy,
    shell::quoted,
};

/// The policies of the home and of its repositories, each by itself.
pub(super) fn policies(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    let root = world.home.root().clone();
    let own = world.repositories.keys();
    let own = own.map(|id| world.home.repository_dir(id));
    for dir in own.chain([root]) {
        if let Err(error) = policy::within(world.home, &dir) {
            let path = dir.join(policy::FILE);
            let hint = format!(
                "mend it with an editor, or make it readable: {}",
                quoted(&path)
            );
            let finding = Finding::new(Code::PolicyBroken, describe(&error));
            findings.push(finding.at(path).by_hand(hint));
        }
    }
    for (id, known) in &world.repositories {
        // Nothing is known of what was accepted without the history, and a broken policy is told of above.
        if known.survey.is_err() || policy::there(world.home, id).is_err() {
            continue;
        }
        let hint = "'flagpost policy accept' in its repository shows it and asks; or take it away";
        let mut put = |what: &str, path: PathBuf| {
            let finding = Finding::new(Code::PolicyWithheld, what).at(path);
            findings.push(finding.by_hand(hint));
        };
        match policy::withheld(world.home, id)? {
            Some(it) => put(
                "the operator has not accepted this policy as it is",
                it.path,
            ),
            None if policy::is_outdated(world.home, id)? => put(
                "this policy counts, though the operator accepted another one since: somebody put it back",
                world.home.repository_dir(id),
            ),
            None if policy::is_gone(world.home, id)? => put(
                "the policy that the operator accepted is gone, and nothing is decided by rules",
                world.home.repository_dir(id),
            ),
            None => {}
        }
    }
    Ok(())
}

pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    let broken = |error| {
        let hint = "mend it with an editor; 'flagpost config list' shows what holds then";
        Finding::new(Code::SettingBroken, describe(&error)).by_hand(hint)
    };
    let config = match Config::read(world.home) {
        Ok(config) => config,
        Err(error) => {
            let path = config::path(world.home).ok();
            findings.push(Finding {
                path,
                ..broken(error)
            });
            return Ok(());
        }
    };
    for name in config.names() {
        if let Err(error) = config.check(&name) {
            findings.push(broken(error).at(config.path()));
        }
    }
    for unknown in config.unknown() {
        let what = format!(
            "line {}: there is no setting {}",
            unknown.line, unknown.name
        );
        let hint = match &unknown.suggestion {
            Some(meant) => format!("correct it with an editor: is {meant} meant?"),
            None => "take it out with an editor".to_owned(),
        };
        let finding = Finding::new(Code::SettingUnknown, what).at(config.path());
        findings.push(finding.by_hand(hint));
    }
    Ok(())
}
