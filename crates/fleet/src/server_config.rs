//! The configuration of a fleet's server, as text.
//!
//! Owns who may do what: each machine speaks under its own name only, and for the gate only where that
//! is said. The administrator's key may do everything in the fleet's account. Pure: nothing is written
//! or started here.
//!
//! Invariant: a machine is in an account of its own and reaches the fleet's only through what it imports.
//! Permissions alone do not do: a server sends an answer, or what a consumer delivers, under whatever
//! subject the asker names, and in one account the streams would store that as another machine's word.
//! So no machine may make a consumer either.

use std::{
    collections::BTreeSet,
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use flagpost_model::MachineId;
use serde::{Deserialize, Serialize};

use crate::{
    address::{InvalidInvitation, PublicKey, Seed},
    membership::machine_of,
};

/// Whether a machine may decide on briefs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MayDecide {
    /// A person sits there.
    Yes,
    /// It only runs agents.
    No,
}

/// A machine that is let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineAccess {
    /// Its name in subjects.
    pub machine: MachineId,
    /// Its key.
    pub key: PublicKey,
    /// Whether it speaks for the gate.
    pub may_decide: MayDecide,
}

impl MachineAccess {
    /// Of the machine that has this key.
    pub fn of(seed: &Seed, may_decide: MayDecide) -> Result<Self, InvalidInvitation> {
        let key = seed.public_key()?;
        Ok(Self {
            machine: machine_of(&key),
            key,
            may_decide,
        })
    }
}

/// A server of one fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The file with its certificate and the key to that; none where everything goes in the clear.
    pub certificate: Option<PathBuf>,
    /// Where it stores.
    pub store: PathBuf,
    /// The most bytes that it may store.
    pub store_bytes: u64,
    /// The administrator's key.
    pub admin: PublicKey,
    /// Who else is let in.
    pub machines: Vec<MachineAccess>,
    /// The servers that keep the orders together; none where this one keeps them alone.
    pub cluster: Option<Cluster>,
}

/// Three servers, of which two keep what one loses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Where this server listens for the others.
    pub listen: SocketAddr,
    /// Where the servers listen for each other, this one included.
    pub servers: [SocketAddr; 3],
    /// The word by which they know each other; letters and digits.
    pub secret: String,
}

/// A directory that no configuration can name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} cannot stand in a server's configuration: use a path of plain characters", path.display())]
pub struct Unwritable {
    path: PathBuf,
}

/// What every machine may ask of the server: what is stored, and nothing that changes it.
const COMMON: [&str; 3] = [
    "$JS.API.INFO",
    "$JS.API.STREAM.INFO.*",
    "$JS.API.DIRECT.GET.*",
];

/// What the fleet's account offers to the others. One question for messages has many answers.
const OFFERED: &str = r#"
    { service: "fp.>" }, { service: "$KV.>" },
    { service: "$JS.API.INFO" }, { service: "$JS.API.STREAM.INFO.*" },
    { service: "$JS.API.DIRECT.GET.*", response_type: stream },
    { stream: "told.>" }"#;

impl ServerConfig {
    /// The text.
    pub fn text(&self) -> Result<String, Unwritable> {
        let store = quoted(&self.store)?;
        let accounts: String = self.machines.iter().map(account).collect();
        let tls = self.certificate.as_deref().map(tls).transpose()?;
        let tls = tls.as_deref().unwrap_or_default();
        let cluster = self.cluster.as_ref().map(|it| it.text(tls));
        Ok(format!(
            "listen: \"{}\"\nmax_payload: 8MB\n\
             {tls}{}\
             jetstream {{ store_dir: {store}, sync_interval: always, max_file_store: {} }}\n\
             accounts {{\n  \
             SYS {{ exports: [ {{ service: \"{STORAGE}\", response_type: stream }} ] }}\n  \
             FLEET {{ jetstream: enabled, users: [ {{ nkey: {} }} ], exports: [{OFFERED} ], imports: [{} ] }}\n\
             {accounts}}}\n\
             system_account: SYS\n",
            self.listen,
            cluster.unwrap_or_default(),
            self.store_bytes,
            self.admin,
            import("SYS", STORAGE)
        ))
    }
}

/// Encryption by this certificate, which is its own authority: servers know each other by it.
fn tls(certificate: &Path) -> Result<String, Unwritable> {
    let file = quoted(certificate)?;
    Ok(format!(
        "tls {{ cert_file: {file}, key_file: {file}, ca_file: {file}, min_version: \"1.3\" }}\n"
    ))
}

/// From a server's port for machines to its port for the other servers.
const BESIDE: u16 = 2000;

/// Where a server of this name listens for machines; the name itself where it says nothing of that.
pub(crate) fn listens_for_machines(name: &str) -> String {
    let own = name.parse().ok().and_then(|it: SocketAddr| {
        let port = it.port().checked_sub(BESIDE)?;
        Some(SocketAddr::new(it.ip(), port).to_string())
    });
    own.unwrap_or_else(|| name.to_owned())
}

impl Cluster {
    /// Of three servers that listen there for machines; of the first. None where they are not three, or a
    /// port has no other one so far behind it.
    pub fn of(listen: [SocketAddr; 3], secret: &Seed) -> Option<Self> {
        let beside = |it: SocketAddr| {
            let port = it.port().checked_add(BESIDE)?;
            (!it.ip().is_unspecified() && it.port() > 0).then(|| SocketAddr::new(it.ip(), port))
        };
        let [first, second, third] = listen.map(beside);
        let servers = [first?, second?, third?];
        let all = [listen, servers].concat();
        let are_three = BTreeSet::from_iter(&all).len() == all.len();
        are_three.then(|| Self {
            listen: servers[0],
            servers,
            secret: secret.reveal().to_owned(),
        })
    }

    /// The other two: where each listens for machines, and what it sees.
    pub fn beside(&self) -> impl Iterator<Item = (SocketAddr, Self)> {
        let others = self.servers.iter().filter(|it| **it != self.listen);
        others.map(|it| {
            let listen = SocketAddr::new(it.ip(), it.port().saturating_sub(BESIDE));
            let sees = Self {
                listen: *it,
                ..self.clone()
            };
            (listen, sees)
        })
    }

    /// How many servers come before this one when something is to be done at one after the other.
    pub(crate) fn turn(&self) -> usize {
        let mine = self.servers.iter().position(|it| *it == self.listen);
        mine.unwrap_or_default()
    }

    /// A server is called after where it listens, so that no two have one name.
    fn text(&self, tls: &str) -> String {
        let route = |to: &SocketAddr| format!("\"nats://flagpost:{}@{to}\"", self.secret);
        let routes: Vec<String> = self.servers.iter().map(route).collect();
        format!(
            "server_name: \"{}\"\n\
             cluster {{ name: flagpost, listen: \"{}\", no_advertise: true\n  {tls}  \
             authorization {{ user: flagpost, password: \"{}\" }},\n  \
             routes: [ {} ] }}\n",
            self.listen,
            self.listen,
            self.secret,
            routes.join(", ")
        )
    }
}

/// Where the servers listen for each other.
impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, third] = self.servers;
        write!(f, "{first},{second},{third}")
    }
}

/// A machine's account. Its user's permissions say the same as the imports, and are there so that the
/// server refuses aloud.
fn account(access: &MachineAccess) -> String {
    let subjects: Vec<String> = publishes(access).collect();
    let allowed: Vec<String> = subjects.iter().map(|it| format!("\"{it}\"")).collect();
    let imports: Vec<String> = subjects.iter().map(|it| import("FLEET", it)).collect();
    format!(
        "  M_{} {{ users: [ {{ nkey: {}, permissions: {{ subscribe: {{ allow: [\"_INBOX.>\", \"told.>\"] }}, \
         publish: {{ allow: [\n    {}, \"{STORAGE}\", \"{RIGHTS}\"\n  ] }} }} }} ], imports: [{},{},\n    \
         {{ stream: {{ account: FLEET, subject: \"told.>\" }} }} ] }}\n",
        access.machine,
        access.key,
        allowed.join(", "),
        imports.join(","),
        import("SYS", STORAGE)
    )
}

/// What an account may ask of another.
fn import(account: &str, subject: &str) -> String {
    format!("\n    {{ service: {{ account: {account}, subject: \"{subject}\" }} }}")
}

/// Under this the server tells how it stores; it is the system's, and changes nothing.
pub(crate) const STORAGE: &str = "$SYS.REQ.SERVER.PING.JSZ";

/// Under this the server tells what the asker's key allows.
pub(crate) const RIGHTS: &str = "$SYS.REQ.USER.INFO";

/// The subjects under which a machine speaks for the gate.
pub(crate) fn gate(machine: &MachineId) -> String {
    format!("fp.*.{machine}.gate")
}

/// The subjects under which a machine may publish.
fn publishes(access: &MachineAccess) -> impl Iterator<Item = String> {
    let machine = &access.machine;
    let gate = match access.may_decide {
        MayDecide::Yes => Some(gate(machine)),
        MayDecide::No => None,
    };
    let own = [
        format!("fp.*.{machine}"),
        format!("$KV.FP_fleet.m.{machine}"),
        format!("$KV.FP_live.{machine}"),
        // Whoever names a list first has the name. One that overwrites another's stands in the way of
        // those who make lists, as it could by making them.
        "$KV.FP_fleet.list.*".to_owned(),
    ];
    let common = COMMON.into_iter().map(str::to_owned);
    own.into_iter().chain(gate).chain(common)
}

/// A path between quotation marks.
fn quoted(path: &Path) -> Result<String, Unwritable> {
    let plain = |c: char| !c.is_control() && !matches!(c, '"' | '\\' | '$');
    match path.to_str() {
        Some(text) if path.is_absolute() && text.chars().all(plain) => Ok(format!("\"{text}\"")),
        _ => Err(Unwritable {
            path: path.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn key() -> PublicKey {
        Seed::generate().unwrap().public_key().unwrap()
    }

    fn config(store: &str) -> ServerConfig {
        ServerConfig {
            listen: "127.0.0.1:4222".parse().unwrap(),
            certificate: None,
            store: store.into(),
            store_bytes: 1 << 30,
            admin: key(),
            machines: [("aaaaaaaa", MayDecide::Yes), ("bbbbbbbb", MayDecide::No)]
                .map(|(name, may_decide)| MachineAccess {
                    machine: name.parse().unwrap(),
                    key: key(),
                    may_decide,
                })
                .into(),
            cluster: None,
        }
    }

    #[test]
    fn only_who_may_decide_speaks_for_the_gate() {
        let text = config("/var/lib/flagpost nats").text().unwrap();
        assert!(
            text.contains("store_dir: \"/var/lib/flagpost nats\""),
            "{text}"
        );
        assert!(text.contains("\"fp.*.aaaaaaaa.gate\""), "{text}");
        assert!(text.contains("\"fp.*.bbbbbbbb\""), "{text}");
        assert!(!text.contains("bbbbbbbb.gate"), "{text}");
    }

    #[test]
    fn three_servers_find_each_other_behind_their_ports() {
        let secret = Seed::generate().unwrap();
        let of = |listen: [&str; 3]| Cluster::of(listen.map(|it| it.parse().unwrap()), &secret);
        let first = of(["10.0.0.5:4222", "10.0.0.6:4222", "10.0.0.7:4333"]).unwrap();
        assert_eq!(
            first.to_string(),
            "10.0.0.5:6222,10.0.0.6:6222,10.0.0.7:6333"
        );
        let beside: Vec<_> = first.beside().collect();
        let listen = beside.iter().map(|it| it.0.to_string());
        assert_eq!(Vec::from_iter(listen), ["10.0.0.6:4222", "10.0.0.7:4333"]);
        assert_eq!((first.turn(), beside[1].1.turn()), (0, 2));
        assert_eq!(beside[1].1.to_string(), first.to_string());
        for bad in [
            ["10.0.0.5:4222", "10.0.0.6:4222", "10.0.0.6:4222"],
            ["10.0.0.5:4222", "10.0.0.5:4222", "10.0.0.6:4222"],
            ["0.0.0.0:4222", "10.0.0.6:4222", "10.0.0.7:4222"],
            ["10.0.0.5:64000", "10.0.0.6:4222", "10.0.0.7:4222"],
            // Where one listens for machines another one would for servers.
            ["10.0.0.5:4222", "10.0.0.5:6222", "10.0.0.7:4222"],
            ["10.0.0.5:0", "10.0.0.6:4222", "10.0.0.7:4222"],
        ] {
            assert_eq!(of(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_path_that_would_end_its_quotes_is_refused() {
        for bad in ["store", "/a\"b", "/a\\b", "/a\nb", "/a$b"] {
            assert!(config(bad).text().is_err(), "{bad:?}");
        }
    }
}
