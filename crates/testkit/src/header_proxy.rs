//! A proxy on loopback that adds a header to each request: for programs that cannot be told to send it.
//!
//! Owns the connections between the two sides, one for each request. It changes nothing else, but for
//! its own name where the other side's belongs, in `Host` and `Origin`.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

/// More than the head of any request has.
const LONGEST_HEAD: usize = 64 << 10;

/// The proxy, listening; it ends with this.
#[derive(Debug)]
pub struct HeaderProxy {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// What it does with a request.
#[derive(Debug)]
struct Way {
    from: SocketAddr,
    to: SocketAddr,
    header: String,
}

impl HeaderProxy {
    /// Passes requests on to this address with this header, as in `Authorization: Bearer x`.
    ///
    /// # Panics
    /// Where it cannot listen.
    pub fn start(to: SocketAddr, header: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("a socket has an address");
        let over = Arc::new(AtomicBool::new(false));
        let way = Arc::new(Way {
            from: address,
            to,
            header: header.to_owned(),
        });
        let is_over = Arc::clone(&over);
        let thread = thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let way = Arc::clone(&way);
                // A side that breaks off ends the other.
                thread::spawn(move || way.carry(client).ok());
            }
        });
        Self {
            address,
            over,
            thread: Some(thread),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HeaderProxy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // It waits for a connection: here is one.
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Way {
    fn carry(&self, mut client: TcpStream) -> io::Result<()> {
        let mut said = Vec::new();
        let end = loop {
            if let Some(at) = said.windows(4).position(|it| it == b"\r\n\r\n") {
                break at;
            }
            let mut more = [0; 4096];
            let n = client.read(&mut more)?;
            if n == 0 || said.len() > LONGEST_HEAD {
                return Ok(());
            }
            said.extend_from_slice(&more[..n]);
        };
        let mut server = TcpStream::connect(self.to)?;
        let head = self.head(&String::from_utf8_lossy(&said[..end]));
        server.write_all(head.as_bytes())?;
        server.write_all(&said[end + 4..])?;
        let (mut rest, mut onward) = (client.try_clone()?, server.try_clone()?);
        let sent = thread::spawn(move || {
            // Over when the client has said all, or one of them is gone.
            let _ = io::copy(&mut rest, &mut onward);
            onward.shutdown(Shutdown::Both)
        });
        let answered = io::copy(&mut server, &mut client);
        client.shutdown(Shutdown::Both)?;
        let _ = sent.join();
        answered.map(drop)
    }

    /// The head as the other side is to read it: a connection for each request.
    fn head(&self, head: &str) -> String {
        let mut lines = head.split("\r\n");
        let mut told = format!("{}\r\n", lines.next().unwrap_or_default());
        for line in lines {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let name = name.to_ascii_lowercase();
            let value = match name.as_str() {
                "connection" => continue,
                "host" | "origin" => value.replace(&self.from.to_string(), &self.to.to_string()),
                _ => value.to_owned(),
            };
            told += &format!("{name}:{value}\r\n");
        }
        told + &format!("{}\r\nconnection: close\r\n\r\n", self.header)
    }
}
