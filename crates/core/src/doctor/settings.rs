//! The settings: each can be read, and each name means something.

use flagpost_model::finding::Code;

use super::{Finding, describe, world::World};
use crate::{
    config::{self, Config},
    error::Result,
};

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
