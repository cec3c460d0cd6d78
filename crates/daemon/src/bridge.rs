//! The bridge inside the daemon, where the configuration wants it; what happens to it is in the log.

use flagpost_core::{
    Home,
    bridge::{self, Host, Tended, TendedEvent},
};
use tracing::{debug, info, warn};

/// Looks after the bridge of a home from now on.
pub(crate) fn tend(home: Home) -> Tended {
    bridge::tend(home, Host::Daemon, |event| match event {
        TendedEvent::Runs(dir) => info!(dir = %dir.display(), "the bridge runs"),
        TendedEvent::Processed(item) => match &item.error {
            None => info!("bridge: {} → ok", item.title),
            Some(error) => info!("bridge: {} → error: {error}", item.title),
        },
        TendedEvent::Stopped(processed) => info!(processed, "the bridge has stopped"),
        TendedEvent::Unwatched(error) => {
            debug!(%error, "the system does not tell of the bridge's inbox");
        }
        TendedEvent::Trouble(error) => warn!(%error, "the bridge cannot go on; trying again"),
    })
}
