//! The files of a server that a machine keeps for its fleet.
//!
//! Owns `access.json`: where the server listens and whom it lets in. What the server reads, `nats.conf`, is
//! made from it and never read here.
//!
//! Invariant: an access file that cannot be understood is named and left as it is. Nothing is started or
//! signalled here; whoever keeps the server sees that its configuration is another
//! ([`keep`](KeptServer::keep)).

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use flagpost_core::{Home, order::fleet_dir};
use flagpost_disk::{
    self as disk,
    fsx::{self, DEFAULT_WAIT, Fs as _, Holder, Lock, Rank, RealFs},
};
use flagpost_model::MachineId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    address::PublicKey,
    certificate::Certificate,
    server_config::{Cluster, MachineAccess, ServerConfig},
    server_error::ServerError,
};

/// The most that a kept server stores.
const STORE_BYTES: u64 = 20 << 30;

/// A server's directory. Clones mean the same.
#[derive(Debug, Clone)]
pub struct KeptServer {
    dir: PathBuf,
}

/// Where a server listens and whom it lets in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerAccess {
    version: AccessVersion,
    /// Where it listens.
    pub listen: SocketAddr,
    /// The certificate that it shows; none where everything goes in the clear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
    /// The administrator's key.
    pub admin: PublicKey,
    /// Who else is let in.
    pub machines: Vec<MachineAccess>,
    /// The servers that it keeps the orders with; none where it is alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
}

/// The one version of the file that there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
struct AccessVersion;

impl TryFrom<u32> for AccessVersion {
    type Error = String;
    fn try_from(number: u32) -> Result<Self, String> {
        match number {
            1 => Ok(Self),
            _ => Err(format!("its version is {number}, and only 1 is known here")),
        }
    }
}

impl From<AccessVersion> for u32 {
    fn from(_: AccessVersion) -> u32 {
        1
    }
}

impl KeptServer {
    /// Founds a server in this directory. One that was founded there with the same values is as good, and
    /// goes on to let in whom it lets in.
    pub fn found(dir: &Path, access: &ServerAccess, now: Timestamp) -> Result<Self, ServerError> {
        fsx::make_dirs(&RealFs, dir)?;
        fsx::close_to_others(&RealFs, dir)?;
        let server = Self::of(dir)?;
        let _lock = server.lock(now)?;
        let known = server.read()?;
        if let Some(known) = &known {
            let beside = |it: &ServerAccess| it.cluster.as_ref().map(Cluster::to_string);
            for (key, found, asked) in [
                (
                    "listen",
                    known.listen.to_string(),
                    access.listen.to_string(),
                ),
                ("admin", known.admin.to_string(), access.admin.to_string()),
                (
                    "servers",
                    beside(known).unwrap_or_default(),
                    beside(access).unwrap_or_default(),
                ),
            ] {
                if found != asked {
                    let dir = server.dir.clone();
                    return Err(ServerError::Otherwise {
                        dir,
                        key,
                        found,
                        asked,
                    });
                }
            }
        }
        server.write(known.as_ref().unwrap_or(access))?;
        Ok(server)
    }

    /// The server of this home, if one was founded there.
    pub fn of_home(home: &Home) -> Result<Option<Self>, ServerError> {
        Self::open(&Self::dir_in(home))
    }

    /// Where a home keeps its server.
    pub fn dir_in(home: &Home) -> PathBuf {
        fleet_dir(home).join("server")
    }

    /// The server that was founded in this directory.
    pub fn open(dir: &Path) -> Result<Option<Self>, ServerError> {
        if fsx::stat(&RealFs, dir)?.is_none() {
            return Ok(None);
        }
        let server = Self::of(dir)?;
        let access = server.read()?;
        Ok(access.map(|_| server))
    }

    /// Where it listens and whom it lets in.
    pub fn access(&self) -> Result<ServerAccess, ServerError> {
        let path = self.access_file();
        let gone = || disk::Error::io("read", &path)(std::io::ErrorKind::NotFound.into());
        Ok(self.read()?.ok_or_else(gone)?)
    }

    /// Lets a machine in, or changes whether it may decide. When this returns, that is written down; a server
    /// that is kept lets it in a moment later. It is started anew for that, and everybody connects again.
    pub fn let_in(&self, machine: MachineAccess, now: Timestamp) -> Result<(), ServerError> {
        let _lock = self.lock(now)?;
        let mut access = self.access()?;
        let owner = access.machines.iter().find(|it| it.key == machine.key);
        let of = owner.map(|it| it.machine.clone());
        let is_anothers = of.as_ref().is_some_and(|it| *it != machine.machine);
        if is_anothers || access.admin == machine.key {
            let machine = machine.machine;
            return Err(ServerError::KeyTaken { machine, of });
        }
        let mut known = access.machines.iter_mut();
        match known.find(|it| it.machine == machine.machine) {
            Some(known) if known.key != machine.key => {
                let machine = machine.machine;
                return Err(ServerError::OtherKey { machine });
            }
            Some(known) => *known = machine,
            None => access.machines.push(machine),
        }
        self.write(&access)
    }

    /// Shuts a machine out; what it was allowed, where it was let in. A server that is kept shuts it out a
    /// moment later, and is started anew for that too.
    pub fn shut_out(
        &self,
        machine: &MachineId,
        now: Timestamp,
    ) -> Result<Option<MachineAccess>, ServerError> {
        let _lock = self.lock(now)?;
        let mut access = self.access()?;
        let at = access.machines.iter().position(|it| it.machine == *machine);
        let shut_out = at.map(|at| access.machines.remove(at));
        self.write(&access)?;
        Ok(shut_out)
    }

    /// Lets in these machines and no others, as the administrator of several servers says; whether that is
    /// anything new.
    pub(crate) fn let_in_only(
        &self,
        machines: Vec<MachineAccess>,
        now: Timestamp,
    ) -> Result<bool, ServerError> {
        let _lock = self.lock(now)?;
        let access = self.access()?;
        let is_new = access.machines != machines;
        self.write(&ServerAccess { machines, ..access })?;
        Ok(is_new)
    }

    /// Who keeps it running at this moment.
    pub fn keeper(&self) -> Result<Option<Holder>, ServerError> {
        Ok(fsx::holder(&RealFs, &self.keeper_lock())?)
    }

    /// The directory, every link resolved.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What the server says.
    pub fn log(&self) -> PathBuf {
        self.dir.join("server.log")
    }

    /// What the server is told.
    pub(crate) fn config(&self) -> PathBuf {
        self.dir.join("nats.conf")
    }

    /// The certificate that it shows, with the key to it.
    fn certificate(&self) -> PathBuf {
        self.dir.join("server.pem")
    }

    /// Held by whoever keeps it.
    pub(crate) fn keeper_lock(&self) -> PathBuf {
        self.dir.join("keeper.lock")
    }

    /// Makes the configuration what the access file says, should somebody have died between the two.
    pub(crate) fn refresh(&self, now: Timestamp) -> Result<(), ServerError> {
        let _lock = self.lock(now)?;
        self.write(&self.access()?)
    }

    fn of(dir: &Path) -> Result<Self, ServerError> {
        let canonical = RealFs.canonical(dir);
        let dir = canonical.map_err(disk::Error::io("resolve", dir))?;
        Ok(Self { dir })
    }

    fn access_file(&self) -> PathBuf {
        self.dir.join("access.json")
    }

    fn store(&self) -> PathBuf {
        self.dir.join("store")
    }

    fn lock(&self, now: Timestamp) -> Result<Lock, ServerError> {
        let path = self.dir.join("access.lock");
        Ok(fsx::lock(&RealFs, &path, Rank::Access, DEFAULT_WAIT, now)?)
    }

    fn read(&self) -> Result<Option<ServerAccess>, ServerError> {
        let path = self.access_file();
        let Some(bytes) = fsx::read(&RealFs, &path)? else {
            return Ok(None);
        };
        let malformed = |reason: String| disk::Error::Malformed {
            path: path.clone(),
            reason,
        };
        let access: ServerAccess =
            serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
        match access.repeated() {
            None => Ok(Some(access)),
            Some(what) => Err(malformed(format!("{what} is there twice")).into()),
        }
    }

    /// Writes the files, each where it is another. The configuration follows, so that it never allows what
    /// was not written down.
    fn write(&self, access: &ServerAccess) -> Result<(), ServerError> {
        let config = ServerConfig {
            listen: access.listen,
            certificate: access.certificate.as_ref().map(|_| self.certificate()),
            store: self.store(),
            store_bytes: STORE_BYTES,
            admin: access.admin.clone(),
            machines: access.machines.clone(),
            cluster: access.cluster.clone(),
        };
        let config = config.text()?;
        let path = self.access_file();
        let text =
            serde_json::to_string_pretty(access).map_err(|error| disk::Error::Malformed {
                path: path.clone(),
                reason: error.to_string(),
            })?;
        fsx::make_dirs(&RealFs, &self.store())?;
        let certificate = access.certificate.as_ref();
        let certificate = certificate.map(|it| (self.certificate(), it.pem().to_owned()));
        let files = [(path, text + "\n")].into_iter().chain(certificate);
        for (path, text) in files.chain([(self.config(), config)]) {
            if fsx::read(&RealFs, &path)?.as_deref() != Some(text.as_bytes()) {
                fsx::replace(&RealFs, &path, text.as_bytes())?;
            }
        }
        Ok(())
    }
}

impl ServerAccess {
    /// Lets in nobody yet.
    pub fn new(listen: SocketAddr, admin: PublicKey, cluster: Option<Cluster>) -> Self {
        Self {
            version: AccessVersion,
            listen,
            certificate: None,
            admin,
            machines: Vec::new(),
            cluster,
        }
    }

    /// The same, and what goes to it is encrypted where there is a certificate.
    #[must_use]
    pub fn with(self, certificate: Option<Certificate>) -> Self {
        Self {
            certificate,
            ..self
        }
    }

    /// The same for another one of its servers.
    pub(crate) fn seen_by(&self, listen: SocketAddr, cluster: Cluster) -> Self {
        Self {
            listen,
            cluster: Some(cluster),
            ..self.clone()
        }
    }

    /// A machine or a key that is there twice: the server would not start.
    fn repeated(&self) -> Option<String> {
        for (at, machine) in self.machines.iter().enumerate() {
            let before = &self.machines[..at];
            if before.iter().any(|it| it.machine == machine.machine) {
                return Some(format!("machine {}", machine.machine));
            }
            if self.admin == machine.key || before.iter().any(|it| it.key == machine.key) {
                return Some(format!("the key of machine {}", machine.machine));
            }
        }
        None
    }
}
