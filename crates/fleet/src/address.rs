//! Where a fleet's servers are, and the key that opens them: the one line of an invitation.
//!
//! Owns the spelling `tls://HOST:PORT,HOST:PORT#SEED.HASH`, where the hash is the servers' certificate's, of
//! `nats://HOST:PORT#SEED` for a way in the clear, and of keys. The seed is a secret: nothing but
//! [`Invitation::reveal`] and the connection shows it.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use flagpost_model::envelope::Hash;
use nkeys::{KeyPair, KeyPairType};
use serde::{Deserialize, Serialize};

use crate::certificate::Certificate;

/// Whether the way to a server is encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// `nats://`: in the clear.
    Plain,
    /// `tls://`: refused where the server does not show the certificate of this hash.
    Tls(Hash),
}

/// A machine's secret key.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed(String);

/// A machine's public key, as the server's configuration names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey(String);

/// Where a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    host: String,
    port: u16,
}

/// A fleet's servers and the key that opens each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    transport: Transport,
    /// One at least; the nearest first.
    servers: Vec<HostPort>,
    seed: Seed,
}

/// Text that is no invitation, or no key. It is not repeated, as a secret may be in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no invitation: {reason}; one looks like tls://box.example.org:4222#SU….…")]
pub struct InvalidInvitation {
    reason: &'static str,
}

const PLAIN: &str = "nats://";
const TLS: &str = "tls://";

fn invalid<T>(reason: &'static str) -> Result<T, InvalidInvitation> {
    Err(InvalidInvitation { reason })
}

impl Transport {
    fn scheme(&self) -> &'static str {
        match self {
            Self::Plain => PLAIN,
            Self::Tls(_) => TLS,
        }
    }
}

/// The way to servers that show this certificate, or none.
impl From<Option<&Certificate>> for Transport {
    fn from(certificate: Option<&Certificate>) -> Self {
        certificate.map_or(Self::Plain, |it| Self::Tls(it.hash().clone()))
    }
}

impl Seed {
    /// A new key.
    pub fn generate() -> Result<Self, InvalidInvitation> {
        let seed = KeyPair::new_user().seed();
        seed.map_or_else(|_| invalid("no key can be made"), |seed| seed.parse())
    }

    /// The public half.
    pub fn public_key(&self) -> Result<PublicKey, InvalidInvitation> {
        match KeyPair::from_seed(&self.0) {
            Ok(pair) => Ok(PublicKey(pair.public_key())),
            Err(_) => invalid("its key is damaged"),
        }
    }

    /// The secret itself, for the connection and for whoever carries it to the other machine.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for Seed {
    type Err = InvalidInvitation;
    fn from_str(text: &str) -> Result<Self, InvalidInvitation> {
        match KeyPair::from_seed(text) {
            Ok(pair) if pair.key_pair_type() == KeyPairType::User => Ok(Self(text.to_owned())),
            Ok(_) => invalid("its key is not a user's"),
            Err(_) => invalid("what follows '#' is no key"),
        }
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(…)")
    }
}

impl PublicKey {
    /// The key as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PublicKey {
    type Err = InvalidInvitation;
    fn from_str(text: &str) -> Result<Self, InvalidInvitation> {
        match KeyPair::from_public_key(text) {
            Ok(pair) if pair.key_pair_type() == KeyPairType::User => Ok(Self(text.to_owned())),
            _ => invalid("a public key is U and 55 more characters"),
        }
    }
}

impl TryFrom<String> for PublicKey {
    type Error = InvalidInvitation;
    fn try_from(text: String) -> Result<Self, InvalidInvitation> {
        text.parse()
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> String {
        key.0
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for HostPort {
    type Err = InvalidInvitation;
    fn from_str(text: &str) -> Result<Self, InvalidInvitation> {
        let Some((host, port)) = text.rsplit_once(':') else {
            return invalid("it names no port");
        };
        let name = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let is_host = match name {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => {
                let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
                host.starts_with(|c: char| c.is_ascii_alphanumeric()) && host.bytes().all(allowed)
            }
        };
        let digits = port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|_| digits).unwrap_or_default();
        match (is_host, port) {
            (false, _) => invalid("its host is no name and no address"),
            (_, 0) => invalid("its port is no number from 1 to 65535"),
            _ => Ok(Self {
                host: host.to_owned(),
                port,
            }),
        }
    }
}

impl From<SocketAddr> for HostPort {
    fn from(address: SocketAddr) -> Self {
        let host = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let port = address.port();
        Self { host, port }
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl Invitation {
    /// To these servers, of which the first is the nearest, with this key.
    pub fn new(
        transport: Transport,
        servers: Vec<HostPort>,
        seed: Seed,
    ) -> Result<Self, InvalidInvitation> {
        if servers.is_empty() {
            return invalid("it names no server");
        }
        Ok(Self {
            transport,
            servers,
            seed,
        })
    }

    /// How the servers are reached.
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// The nearest server.
    pub fn first(&self) -> Option<&HostPort> {
        self.servers.first()
    }

    /// Each server's own address.
    pub(crate) fn servers(&self) -> impl Iterator<Item = String> {
        let scheme = self.transport.scheme();
        self.servers.iter().map(move |it| format!("{scheme}{it}"))
    }

    /// The key.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The same servers with another key.
    #[must_use]
    pub fn with_seed(&self, seed: Seed) -> Self {
        Self {
            seed,
            ..self.clone()
        }
    }

    /// The same servers, reached so.
    #[must_use]
    pub fn over(&self, transport: Transport) -> Self {
        Self {
            transport,
            ..self.clone()
        }
    }

    /// The same at these addresses, as in `HOST:PORT,HOST:PORT`.
    pub fn reached_at(&self, addresses: &str) -> Result<Self, InvalidInvitation> {
        let servers: Result<_, _> = addresses.split(',').map(str::parse).collect();
        Self::new(self.transport.clone(), servers?, self.seed.clone())
    }

    /// The same with this server first.
    #[must_use]
    pub fn nearest(&self, server: HostPort) -> Self {
        let others = self.servers.iter().filter(|it| **it != server).cloned();
        let servers = [server.clone()].into_iter().chain(others).collect();
        Self {
            servers,
            ..self.clone()
        }
    }

    /// The whole line with its secret, for whoever carries it to the other machine.
    pub fn reveal(&self) -> String {
        match &self.transport {
            Transport::Plain => format!("{self}#{}", self.seed.0),
            Transport::Tls(hash) => format!("{self}#{}.{}", self.seed.0, hash.as_str()),
        }
    }
}

impl FromStr for Invitation {
    type Err = InvalidInvitation;
    fn from_str(text: &str) -> Result<Self, InvalidInvitation> {
        let Some((address, secret)) = text.split_once('#') else {
            return invalid("it has no '#' with a key behind");
        };
        let (transport, servers, seed) = match (
            address.strip_prefix(TLS),
            address.strip_prefix(PLAIN),
            secret.split_once('.'),
        ) {
            (Some(servers), _, Some((seed, hash))) => {
                let Ok(hash) = hash.parse() else {
                    return invalid("what follows its key is no hash of a certificate");
                };
                (Transport::Tls(hash), servers, seed)
            }
            (Some(_), _, None) => return invalid("it has no '.' with a hash behind its key"),
            (_, Some(_), Some(_)) => {
                return invalid("it begins with nats:// and names a certificate");
            }
            (_, Some(servers), None) => (Transport::Plain, servers, secret),
            (None, None, _) => return invalid("it begins with neither tls:// nor nats://"),
        };
        let servers: Result<_, _> = servers.split(',').map(str::parse).collect();
        Self::new(transport, servers?, seed.parse()?)
    }
}

/// The addresses without the key.
impl fmt::Display for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.transport.scheme())?;
        for (at, server) in self.servers.iter().enumerate() {
            let before = if at == 0 { "" } else { "," };
            write!(f, "{before}{server}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitation_is_read_as_it_is_written() {
        let seed = Seed::generate().unwrap();
        let hash = Hash::of(b"a certificate");
        let pinned = format!(".{}", hash.as_str());
        for (address, pinned) in [
            ("nats://127.0.0.1:4222", ""),
            ("tls://box.example.org:1", pinned.as_str()),
            ("nats://[::1]:65535", ""),
            ("tls://10.0.0.5:4222,10.0.0.6:4222,[::1]:4222", &pinned),
        ] {
            let line = format!("{address}#{}{pinned}", seed.reveal());
            let invitation: Invitation = line.parse().unwrap();
            assert_eq!(invitation.reveal(), line);
            assert_eq!(invitation.to_string(), address);
            assert_eq!(invitation.seed(), &seed);
        }
    }

    #[test]
    fn what_is_no_invitation_is_refused() {
        let seed = Seed::generate().unwrap();
        let seed = seed.reveal();
        let account = KeyPair::new_account().seed().unwrap();
        let hash = Hash::of(b"a certificate");
        let hash = hash.as_str();
        for bad in [
            String::new(),
            format!("nats://box:4222{seed}"),
            format!("http://box:4222#{seed}"),
            format!("box:4222#{seed}"),
            format!("nats://box#{seed}"),
            format!("nats://box:0#{seed}"),
            format!("nats://box:70000#{seed}"),
            format!("nats://box:+42#{seed}"),
            format!("nats://:4222#{seed}"),
            format!("nats://a@box:4222#{seed}"),
            format!("nats://box/x:4222#{seed}"),
            format!("nats://bo x:4222#{seed}"),
            format!("nats://[::g]:4222#{seed}"),
            format!("nats://::1:4222#{seed}"),
            format!("nats://#{seed}"),
            format!("nats://box:4222,#{seed}"),
            format!("nats://box:4222,nats://box:4223#{seed}"),
            "nats://box:4222#".to_owned(),
            "nats://box:4222#SUA".to_owned(),
            format!("nats://box:4222#{seed}A"),
            format!("nats://box:4222#{account}"),
            format!("tls://box:4222#{seed}"),
            format!("tls://box:4222#{seed}."),
            format!("tls://box:4222#{seed}.{}", &hash[1..]),
            format!("tls://box:4222#.{hash}"),
            format!("nats://box:4222#{seed}.{hash}"),
        ] {
            assert!(bad.parse::<Invitation>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_seed_is_never_shown() {
        let seed = Seed::generate().unwrap();
        let line = format!("nats://box:4222#{}", seed.reveal());
        let invitation: Invitation = line.parse().unwrap();
        let damaged = format!("{line}A").parse::<Invitation>().unwrap_err();
        let shown = format!("{invitation:?} {invitation} {seed:?} {damaged} {damaged:?}");
        assert!(!shown.contains(&seed.reveal()[2..10]), "{shown}");
    }

    #[test]
    fn a_public_key_is_a_users() {
        let key = Seed::generate().unwrap().public_key().unwrap();
        assert_eq!(key.as_str().parse(), Ok(key.clone()));
        let account = KeyPair::new_account().public_key();
        for bad in ["", "U", "x } ]", account.as_str(), &key.as_str()[1..]] {
            assert!(bad.parse::<PublicKey>().is_err(), "{bad}");
        }
    }
}
