//! How a connection is made: to the first of a fleet's servers that lets this machine in.
//!
//! Owns whose turn it is, the encryption of the way, and why there is no connection. One that is lost is
//! restored by itself, of several servers at the next one.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_nats::{
    Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, ReconnectToServer, ServerError,
};
use tokio::{
    sync::{broadcast, watch},
    time::timeout,
};

use crate::{
    address::{Invitation, Transport},
    certificate::{encryption, is_other_certificate, of_encryption},
    error::FleetError,
};

/// How long anything may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Until a connection stands.
    pub connect: Duration,
    /// Until an answer has come. Of several servers each is given its part of this.
    pub answer: Duration,
    /// Until an append is settled, all its repetitions included.
    pub settle: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            answer: Duration::from_secs(3),
            settle: Duration::from_secs(10),
        }
    }
}

/// What the connection says of itself.
pub(crate) struct Signs {
    /// The subjects that the server refused.
    pub(crate) refused: broadcast::Sender<String>,
    /// How often the connection was lost.
    pub(crate) losses: watch::Sender<u64>,
}

impl Signs {
    pub(crate) fn hear(&self, event: &Event) {
        match event {
            Event::Disconnected | Event::Closed => {
                self.losses.send_modify(|losses| *losses += 1);
            }
            Event::ServerError(ServerError::Other(text)) => {
                if let Some(subject) = refused_subject(text) {
                    // Nobody may be waiting.
                    let _ = self.refused.send(subject.to_owned());
                }
            }
            _ => {}
        }
    }
}

/// The subject that the server says may not be published to.
fn refused_subject(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Permissions Violation for Publish to \"")?;
    rest.split_once('"').map(|(subject, _)| subject)
}

/// Connects to the first of the servers that lets this machine in.
pub(crate) async fn connect(
    to: &Invitation,
    deadlines: Deadlines,
    signs: &Arc<Signs>,
) -> Result<Client, FleetError> {
    let servers: Vec<String> = to.servers().collect();
    let turn = Arc::new(AtomicUsize::new(0));
    let each = deadlines.connect / u32::try_from(servers.len()).unwrap_or(u32::MAX).max(1);
    let (mut others, mut refused, mut away) = (0, 0, None);
    for _ in &servers {
        match timeout(each, options(to, each, signs, &turn)?.connect(&servers)).await {
            Ok(Ok(client)) => return Ok(client),
            Ok(Err(error)) if is_other_certificate(&error) => {
                others += 1;
            }
            Ok(Err(error)) => match error.kind() {
                ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                    refused += 1;
                }
                _ => away = Some(why_away(to.transport(), &error)),
            },
            Err(_) => away = Some("it does not answer".to_owned()),
        }
    }
    let server = to.to_string();
    Err(match away {
        None if others == servers.len() => FleetError::OtherCertificate { server },
        None => FleetError::NotAllowed {
            server,
            what: "connect".to_owned(),
        },
        Some(reason) if refused == 0 => FleetError::Unreachable { server, reason },
        // A server that is away may know the key.
        Some(_) => FleetError::Unreachable {
            server,
            reason: "the servers that answer do not let this machine's key in".to_owned(),
        },
    })
}

fn why_away(transport: &Transport, error: &ConnectError) -> String {
    match (of_encryption(error), transport) {
        (None, _) => error.to_string(),
        (Some(_), Transport::Plain) => {
            "it encrypts the way, and the invitation does not".to_owned()
        }
        (Some(why), Transport::Tls(_)) => format!("it does not encrypt the way: {why}"),
    }
}

/// How a connection is made, and made again: each time to the server whose turn it is.
fn options(
    to: &Invitation,
    patience: Duration,
    signs: &Arc<Signs>,
    turn: &Arc<AtomicUsize>,
) -> Result<ConnectOptions, FleetError> {
    let (listener, turn) = (signs.clone(), turn.clone());
    let options = ConnectOptions::with_nkey(to.seed().reveal().to_owned());
    let options = match to.transport() {
        Transport::Plain => options,
        Transport::Tls(certificate) => {
            let encryption = encryption(certificate).map_err(|error| FleetError::Unreachable {
                server: to.to_string(),
                reason: error.to_string(),
            })?;
            options.require_tls(true).tls_client_config(encryption)
        }
    };
    let options = options
        .name("flagpost")
        .connection_timeout(patience.min(Duration::from_secs(2)))
        // The way to a server may be one that the servers do not know of, such as a tunnel.
        .ignore_discovered_servers()
        .reconnect_to_server_callback(move |servers, _| {
            let turn = turn.fetch_add(1, Ordering::Relaxed);
            let next = servers.get(turn % servers.len().max(1));
            let next = next.map(|it| it.addr.clone());
            async move { next.map(|addr| ReconnectToServer { addr, delay: None }) }
        })
        // The first try is at once, at the beginning too.
        .reconnect_delay_callback(|tries| {
            let steps = u64::try_from(tries).unwrap_or(u64::MAX).saturating_sub(1);
            Duration::from_millis(50 * steps.min(20))
        })
        .event_callback(move |event| {
            listener.hear(&event);
            async {}
        });
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_its_subject() {
        let text = "Permissions Violation for Publish to \"fp.x.aaaaaaaa\"";
        assert_eq!(refused_subject(text), Some("fp.x.aaaaaaaa"));
        let other = "Permissions Violation for Subscription to \"fp.x.aaaaaaaa\"";
        assert_eq!(refused_subject(other), None);
    }
}
