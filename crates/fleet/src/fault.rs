//! Why a server that is kept does not run.
//!
//! Owns the file `fault` beside the server: its keeper writes it while there is no server, and whoever finds
//! the server away on its own machine says what stands there. It decides nothing.

use std::path::PathBuf;

use flagpost_core::Home;
use flagpost_disk::fsx::{self, Fs as _, RealFs};

use crate::{error::FleetError, keeper::KeeperEvent, server::KeptServer};

/// So much of it is read.
const LONGEST: u64 = 4 << 10;

impl KeptServer {
    /// Why the server does not run, as its keeper saw it last; none where it runs or nobody keeps it.
    pub fn fault(&self) -> Option<String> {
        let bytes = RealFs.read_part(&self.fault_file(), 0, LONGEST).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Writes down why the server does not run, for everybody who reads files.
    pub fn note_fault(&self, why: &str) {
        // Where that cannot be written, the log has it.
        let _ = fsx::replace(&RealFs, &self.fault_file(), format!("{why}\n").as_bytes());
    }

    pub(crate) fn forget_fault(&self) {
        // There may be none.
        let _ = RealFs.remove(&self.fault_file());
    }

    pub(crate) fn note(&self, event: &KeeperEvent) {
        match event {
            KeeperEvent::OlderEnded { .. } | KeeperEvent::Outdated { .. } => {}
            KeeperEvent::Started { .. } => self.forget_fault(),
            KeeperEvent::Died { status, said, .. } => {
                let said = said
                    .as_deref()
                    .unwrap_or("its log, server.log, says no more");
                self.note_fault(&format!("nats-server ended ({status}): {said}"));
            }
            KeeperEvent::NotStarted { error, .. } => self.note_fault(&error.to_string()),
        }
    }

    fn fault_file(&self) -> PathBuf {
        self.dir().join("fault")
    }
}

impl FleetError {
    /// The same, with why the server does not run where this home keeps it.
    #[must_use]
    pub fn explained(self, home: &Home) -> Self {
        let Self::Unreachable { server, reason } = self else {
            return self;
        };
        let why = match KeptServer::of_home(home) {
            Ok(None) => None,
            Ok(Some(kept)) => kept.fault().or_else(|| {
                let keeper = kept.keeper().ok()?;
                let nobody = "no daemon runs here; 'flagpost up' starts both";
                keeper.is_none().then(|| nobody.to_owned())
            }),
            Err(error) => Some(error.to_string()),
        };
        let reason = match why {
            Some(why) => {
                format!("{reason}; this machine keeps the server, and it does not run: {why}")
            }
            None => reason,
        };
        Self::Unreachable { server, reason }
    }
}
