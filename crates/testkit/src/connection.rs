//! A connection to what a test started.
//!
//! Owns waiting for a server that does not listen yet.

use std::net::{TcpStream, ToSocketAddrs};

use crate::{patience::patience, race::found};

/// A connection to a server that a test started, once it listens there. What is read from it is waited for.
///
/// # Panics
/// Where it does not listen before [`patience`] ends.
pub fn connected(address: impl ToSocketAddrs) -> TcpStream {
    let stream = found("a server listens", || TcpStream::connect(&address).ok());
    let patient = stream.set_read_timeout(Some(patience()));
    patient.expect("a connection can wait");
    stream
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_listens_late_is_waited_for() {
        let address = crate::nats::free_address();
        let (tried, is_tried) = std::sync::mpsc::channel();
        let server = std::thread::spawn(move || {
            is_tried.recv().expect("somebody asks");
            std::net::TcpListener::bind(address).map(|it| it.accept().is_ok())
        });
        assert!(TcpStream::connect(address).is_err());
        tried.send(()).expect("it waits");
        connected(address);
        assert!(server.join().is_ok_and(|it| it.is_ok_and(|it| it)));
    }
}
