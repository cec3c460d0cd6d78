//! A way over loopback that can be cut: a network between two programs, without being root.
//!
//! Owns the connections through it. A cut is silent, as of a cable: nobody is told, and what was said
//! meanwhile arrives when it is mended. Or it is said: connections end, and new ones do too. It can be
//! overheard.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

/// How a way is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum PassageState {
    /// Everything passes.
    #[default]
    Whole,
    /// Nothing passes, and nobody is told.
    Silent,
    /// Connections are ended.
    Closed,
    /// It is no more.
    Gone,
}

/// A way to one address; it ends with its value.
#[derive(Debug)]
pub struct Passage {
    address: SocketAddr,
    shared: Arc<PassageEnds>,
}

#[derive(Debug)]
struct PassageEnds {
    to: SocketAddr,
    way: Mutex<PassageInside>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct PassageInside {
    state: PassageState,
    /// Both ends of each connection.
    ends: Vec<TcpStream>,
    /// What passed, in both directions; none where nobody listens.
    heard: Option<Vec<u8>>,
}

impl Passage {
    /// A new way to this address.
    ///
    /// # Panics
    /// Where it cannot listen.
    pub fn to(to: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("a listener has an address");
        let shared = Arc::new(PassageEnds {
            to,
            way: Mutex::default(),
            changed: Condvar::new(),
        });
        let carrier = Arc::clone(&shared);
        thread::spawn(move || {
            for from in listener.incoming().map_while(Result::ok) {
                if carrier.way().state == PassageState::Gone {
                    break;
                }
                let carrier = Arc::clone(&carrier);
                thread::spawn(move || carrier.connect(from));
            }
        });
        Self { address, shared }
    }

    /// Where one enters it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Keeps what passes from now on.
    pub fn overhear(&self) {
        self.shared.way().heard = Some(Vec::new());
    }

    /// What passed since it is overheard, as it came.
    pub fn heard(&self) -> Vec<u8> {
        self.shared.way().heard.clone().unwrap_or_default()
    }

    /// Cuts or mends it.
    pub fn set(&self, state: PassageState) {
        let mut way = self.shared.way();
        way.state = state;
        if matches!(state, PassageState::Closed | PassageState::Gone) {
            for end in way.ends.drain(..) {
                // One that is closed already is as it should be.
                let _ = end.shutdown(Shutdown::Both);
            }
        }
        self.shared.changed.notify_all();
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.set(PassageState::Gone);
        // It waits for a connection: here is one.
        let _ = TcpStream::connect(self.address);
    }
}

impl PassageEnds {
    fn way(&self) -> MutexGuard<'_, PassageInside> {
        self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something passes; whether it does.
    fn passes(&self) -> bool {
        self.when_it_passes(|_| ()).is_some()
    }

    /// Does something with it once something passes, if it does.
    fn when_it_passes<T>(&self, work: impl FnOnce(&mut PassageInside) -> T) -> Option<T> {
        let way = self
            .changed
            .wait_while(self.way(), |way| way.state == PassageState::Silent);
        let mut way = way.unwrap_or_else(PoisonError::into_inner);
        (way.state == PassageState::Whole).then(|| work(&mut way))
    }

    fn connect(self: Arc<Self>, from: TcpStream) -> Option<()> {
        self.passes().then_some(())?;
        let to = TcpStream::connect(self.to).ok()?;
        // Else a small packet waits 40 ms for the one before it to be acknowledged.
        for end in [&from, &to] {
            end.set_nodelay(true).ok()?;
        }
        let ends = [from.try_clone().ok()?, to.try_clone().ok()?];
        self.when_it_passes(|way| {
            way.ends.retain(|end| end.peer_addr().is_ok());
            way.ends.extend(ends);
        })?;
        let back = (to.try_clone().ok()?, from.try_clone().ok()?);
        let other = Arc::clone(&self);
        thread::spawn(move || other.carry(back.0, back.1));
        self.carry(from, to);
        Some(())
    }

    fn carry(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = [0; 16 << 10];
        while let Ok(len @ 1..) = from.read(&mut bytes) {
            let listen = |way: &mut PassageInside| {
                let heard = way.heard.iter_mut();
                heard.for_each(|it| it.extend_from_slice(&bytes[..len]));
            };
            if self.when_it_passes(listen).is_none() || to.write_all(&bytes[..len]).is_err() {
                break;
            }
        }
        // What one side ends is ended for the other, once something passes.
        self.passes();
        for end in [from, to] {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::patience::patience;

    /// Sends each byte back.
    fn echo() -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for mut client in listener.incoming().map_while(Result::ok) {
                thread::spawn(move || {
                    let mut byte = [0];
                    while client.read_exact(&mut byte).is_ok() && client.write_all(&byte).is_ok() {}
                });
            }
        });
        address
    }

    /// What comes back, if it comes in time.
    fn ask(client: &mut TcpStream, byte: u8, patience: Duration) -> Option<u8> {
        client.write_all(&[byte]).ok()?;
        hear(client, patience)
    }

    fn hear(client: &mut TcpStream, patience: Duration) -> Option<u8> {
        client.set_read_timeout(Some(patience)).unwrap();
        let mut back = [0];
        client.read_exact(&mut back).ok().map(|()| back[0])
    }

    #[test]
    fn a_way_is_whole_silent_closed_and_whole_again() {
        let (soon, late) = (Duration::from_millis(100), patience());
        let link = Passage::to(echo());
        let mut client = TcpStream::connect(link.address()).unwrap();
        assert_eq!(ask(&mut client, 1, late), Some(1));
        link.set(PassageState::Silent);
        assert_eq!(ask(&mut client, 2, soon), None);
        let mut waiting = TcpStream::connect(link.address()).unwrap();
        assert_eq!(ask(&mut waiting, 8, soon), None);
        link.set(PassageState::Whole);
        // What was said meanwhile arrives.
        assert_eq!(hear(&mut client, late), Some(2));
        assert_eq!(hear(&mut waiting, late), Some(8));
        link.set(PassageState::Closed);
        assert_eq!(ask(&mut client, 4, late), None);
        let mut refused = TcpStream::connect(link.address()).unwrap();
        assert_eq!(ask(&mut refused, 4, late), None);
        link.set(PassageState::Whole);
        let mut again = TcpStream::connect(link.address()).unwrap();
        assert_eq!(ask(&mut again, 5, late), Some(5));
    }
}
