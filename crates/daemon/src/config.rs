//! What a daemon is started with.
//!
//! Owns no default: whoever starts one says all of it.

use std::os::unix::net::UnixListener as StdUnixListener;

use flagpost_core::Home;
use flagpost_model::WorkerId;

use crate::events::WatchMode;

/// What a daemon is for.
#[derive(Debug)]
pub struct DaemonConfig {
    /// Its home.
    pub home: Home,
    /// Who acts where nobody says.
    pub actor: WorkerId,
    /// The port on 127.0.0.1; without one that of the daemon before, or any that is free.
    pub port: Option<u16>,
    /// How it notices what others do.
    pub watching: WatchMode,
    /// A socket that somebody listens at for it, as systemd does; without one it listens itself.
    pub socket: Option<StdUnixListener>,
}
