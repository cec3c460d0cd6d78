//! Notifications: what was told can be read, and the channels worked when they were used last.

use flagpost_model::finding::Code;

use super::{Finding, describe, world::World};
use crate::{
    error::Result,
    notifications::{self, NoticeSettings},
    shell::quoted,
};

pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    let failures = match notifications::failures(world.home) {
        Ok(failures) => failures,
        Err(error) => {
            let path = notifications::path(world.home);
            let hint = format!(
                "move it away: then you are told once more of what waits now: {}",
                quoted(&path)
            );
            let finding = Finding::new(Code::NoticesUnreadable, describe(&error));
            findings.push(finding.at(path).by_hand(hint));
            return Ok(());
        }
    };
    // What is wrong with a setting, the settings' own check tells.
    let Ok(settings) = NoticeSettings::read(world.home) else {
        return Ok(());
    };
    for (channel, failure) in failures {
        if !settings.channels.contains(&channel) {
            continue;
        }
        let what = format!(
            "the channel {channel} failed at {:.0}: {}",
            failure.at, failure.why
        );
        let hint = format!("mend it, and try it with 'flagpost notify test {channel}'");
        findings.push(Finding::new(Code::NoticeFailed, what).by_hand(hint));
    }
    Ok(())
}
