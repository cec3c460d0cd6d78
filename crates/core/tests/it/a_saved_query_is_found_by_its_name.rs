//! `queries.NAME` in the configuration.

use flagpost_core::{Config, Error, config};

use crate::world::World;

#[test]
fn as_it_was_stored() {
    let world = World::real();
    let text = "priority=high and tag=\"a b\"\nsort=due".to_owned();
    config::set(&world.home, "queries.due.soon", std::slice::from_ref(&text)).unwrap();
    let read = Config::read(&world.home).unwrap();
    let query = |name: &str| read.query(&name.parse().unwrap()).unwrap();
    assert_eq!(query("due.soon"), Some(text));
    assert_eq!(query("due"), None);
    assert_eq!(query("soon"), None);
}

#[test]
fn unless_it_is_none() {
    let world = World::real();
    std::fs::write(world.home.root().join("config.toml"), "queries.a = 3\n").unwrap();
    let read = Config::read(&world.home).unwrap();
    let answer = read.query(&"a".parse().unwrap());
    let told = matches!(
        answer,
        Err(Error::Disk(flagpost_disk::Error::Malformed { .. }))
    );
    assert!(told, "{answer:?}");
}
