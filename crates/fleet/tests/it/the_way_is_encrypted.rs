//! Who listens on the way to a server, or in its place, learns nothing.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    thread,
};

use flagpost_fleet::{
    Certificate, FleetError, Hub, Invitation, KeptServer, RepoStream, Seed, ServerAccess, Transport,
};
use flagpost_testkit::{nats::Storage, passage::Passage, race::until};

use jiff::Timestamp;

use crate::{
    kept::Kept,
    world::{World, say},
};

/// What nobody on the way may read.
const SECRET: &str = "the words of a brief";

fn holds(heard: &[u8], words: &str) -> bool {
    let words = words.as_bytes();
    heard.windows(words.len()).any(|it| it == words)
}

/// To one server, there.
fn to(at: SocketAddr, transport: &Transport, seed: &Seed) -> Invitation {
    Invitation::new(transport.clone(), vec![at.into()], seed.clone()).unwrap()
}

fn certificate() -> Certificate {
    Certificate::generate(&[Ipv4Addr::LOCALHOST.into()]).unwrap()
}

/// What passed on the way to a server while a machine spoke to it.
fn heard_of(world: &World, at: SocketAddr, transport: &Transport) -> Vec<u8> {
    let way = Passage::to(at);
    way.overhear();
    let invitation = to(way.address(), transport, &world.machines[0].seed);
    let hub = Hub::connect(&invitation, world.runtime.handle()).unwrap();
    let stream = RepoStream::open(&hub, &world.share()).unwrap();
    say(&stream, world.id(0), 0, SECRET).unwrap();
    way.heard()
}

#[test]
fn nobody_on_the_way_to_a_server_reads_a_change() {
    let Some(world) = World::three(1, Storage::Memory) else {
        return;
    };
    let ways = world.ways.as_ref().unwrap();
    ways.overhear();
    let heard = heard_of(&world, world.server.address(), &world.transport);
    // What servers say before they encrypt is no secret.
    assert!(holds(&heard, "INFO {"));
    assert!(!holds(&heard, SECRET));
    until("the servers spoke to each other", || {
        ways.heard().len() > SECRET.len()
    });
    assert!(!holds(&ways.heard(), SECRET));
    assert!(!holds(&ways.heard(), world.id(0).as_str()));
}

#[test]
fn a_private_network_carries_it_in_the_clear() {
    let Some(world) = World::three_with(1, Storage::Memory, None) else {
        return;
    };
    let ways = world.ways.as_ref().unwrap();
    ways.overhear();
    let heard = heard_of(&world, world.server.address(), &world.transport);
    assert!(holds(&heard, SECRET));
    until("the servers spoke of it to each other", || {
        holds(&ways.heard(), SECRET)
    });
}

#[test]
fn a_server_with_another_certificate_is_told_nothing() {
    let Some(kept) = Kept::start() else {
        return;
    };
    let way = Passage::to(kept.listen);
    way.overhear();
    let pinned = Transport::from(Some(&certificate()));
    let refused = Hub::connect(
        &to(way.address(), &pinned, &kept.admin),
        kept.runtime.handle(),
    );
    let server = format!("tls://{}", way.address());
    assert_eq!(
        refused.map(drop),
        Err(FleetError::OtherCertificate { server })
    );
    assert!(!holds(&way.heard(), "CONNECT"));
    // Its own is known whatever the way is called.
    let itself = to(way.address(), &kept.transport, &kept.admin);
    assert_eq!(
        Hub::connect(&itself, kept.runtime.handle()).map(drop),
        Ok(())
    );
}

#[test]
fn an_invitation_in_the_clear_to_a_server_that_encrypts_is_told_so() {
    let Some(kept) = Kept::start() else {
        return;
    };
    let clear = to(kept.listen, &Transport::Plain, &kept.admin);
    let refused = Hub::connect(&clear, kept.runtime.handle()).map(drop);
    let Err(FleetError::Unreachable { reason, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(reason, "it encrypts the way, and the invitation does not");
}

#[test]
fn a_server_that_cannot_encrypt_is_told_nothing() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = listener.local_addr().unwrap();
    let told = thread::spawn(move || {
        let (mut machine, _) = listener.accept().unwrap();
        let info = "INFO {\"server_id\":\"x\",\"version\":\"2.15.1\",\"nonce\":\"abcdefgh\",\
                    \"max_payload\":8388608,\"jetstream\":true,\"headers\":true}\r\n";
        machine.write_all(info.as_bytes()).unwrap();
        let mut told = vec![0; 4096];
        let len = machine.read(&mut told).unwrap();
        told.truncate(len);
        told
    });
    let seed = Seed::generate().unwrap();
    let pinned = Transport::from(Some(&certificate()));
    let runtime = flagpost_fleet::runtime("a server").unwrap();
    let refused = Hub::connect(&to(at, &pinned, &seed), runtime.handle()).map(drop);
    assert!(
        matches!(refused, Err(FleetError::Unreachable { .. })),
        "{refused:?}"
    );
    let told = told.join().unwrap();
    // A handshake, and not the word that opens a conversation.
    assert_eq!(told.first(), Some(&0x16));
    assert!(!holds(&told, "CONNECT"));
}

#[test]
fn a_server_keeps_the_certificate_that_it_was_founded_with() {
    let Some(kept) = Kept::found() else {
        return;
    };
    let known = kept.server.access().unwrap();
    let again = ServerAccess::new(known.listen, known.admin, None).with(Some(certificate()));
    let server = KeptServer::found(kept.server.dir(), &again, Timestamp::now()).unwrap();
    let certificate = server.access().unwrap().certificate;
    assert_eq!(Transport::from(certificate.as_ref()), kept.transport);
}
