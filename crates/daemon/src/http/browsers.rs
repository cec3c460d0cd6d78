//! Browsers that were let in.
//!
//! Owns the links that let one in once, and the sessions that they open. Both are in memory only: they
//! are gone with the daemon. A session has two halves, and neither opens anything alone: the cookie,
//! which a browser sends to every port of 127.0.0.1 whoever listens there, and the key, which the page
//! keeps for its own origin and sends in a header. Only hashes of them are kept.

use std::time::{Duration, Instant};

use flagpost_core::relay::workers::tokens::random;
use flagpost_model::envelope::Hash;

/// What a link carries: the code in its path, the key in its fragment, which no browser sends.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) code: String,
    pub(crate) key: String,
}

/// A link that nobody has used.
#[derive(Debug)]
struct UnusedLink {
    code: Hash,
    key: Hash,
    made: Instant,
}

/// A browser that is in.
#[derive(Debug)]
struct Session {
    cookie: Hash,
    key: Hash,
    begun: Instant,
    used: Instant,
    /// What it calls itself.
    agent: String,
}

/// A browser that is in, as a person is told of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SignedIn {
    /// For how long it has been in.
    pub(crate) age: Duration,
    /// For how long it has asked for nothing.
    pub(crate) idle: Duration,
    /// What it calls itself.
    pub(crate) agent: String,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Browsers {
    links: Vec<UnusedLink>,
    sessions: Vec<Session>,
}

impl Browsers {
    /// So long a link holds.
    const LINK: Duration = Duration::from_secs(120);
    /// So long a session holds after its last use.
    const IDLE: Duration = Duration::from_secs(12 * 3600);
    /// So long a session holds at most.
    const LIFE: Duration = Duration::from_secs(7 * 24 * 3600);
    /// So many links and so many sessions there are at most; the oldest goes.
    const MOST: usize = 16;

    /// So much of a browser's name is kept, in characters.
    const LONGEST_NAME: usize = 200;

    /// A new link.
    pub(crate) fn invite(&mut self, now: Instant) -> Link {
        self.forget(now);
        if self.links.len() >= Self::MOST {
            self.links.remove(0);
        }
        let (code, key) = (random(), random());
        self.links.push(UnusedLink {
            code: Hash::of(code.as_bytes()),
            key: Hash::of(key.as_bytes()),
            made: now,
        });
        Link { code, key }
    }

    /// Opens a session for whoever has both halves of a link, which is used by that, under the name that it
    /// gives itself. The answer is the value of its cookie.
    pub(crate) fn enter(
        &mut self,
        (code, key): (&str, &str),
        agent: &str,
        now: Instant,
    ) -> Option<String> {
        self.forget(now);
        let (code, key) = (Hash::of(code.as_bytes()), Hash::of(key.as_bytes()));
        let is_it = |it: &UnusedLink| it.code == code && it.key == key;
        let at = self.links.iter().position(is_it)?;
        self.links.remove(at);
        if self.sessions.len() >= Self::MOST {
            self.sessions.sort_by_key(|it| it.used);
            self.sessions.remove(0);
        }
        let cookie = random();
        self.sessions.push(Session {
            cookie: Hash::of(cookie.as_bytes()),
            key,
            begun: now,
            used: now,
            agent: agent.chars().take(Self::LONGEST_NAME).collect(),
        });
        Some(cookie)
    }

    /// Whether a session has this cookie, and this key where one is asked for.
    pub(crate) fn knows(&mut self, cookie: &str, key: Option<&str>, now: Instant) -> bool {
        self.forget(now);
        let (cookie, key) = (
            Hash::of(cookie.as_bytes()),
            key.map(|it| Hash::of(it.as_bytes())),
        );
        let is_it = |it: &&mut Session| {
            it.cookie == cookie && key.as_ref().is_none_or(|key| it.key == *key)
        };
        let session = self.sessions.iter_mut().find(is_it);
        session.map(|it| it.used = now).is_some()
    }

    /// Which browsers are in, in the order in which they came.
    pub(crate) fn signed_in(&mut self, now: Instant) -> Vec<SignedIn> {
        self.forget(now);
        self.sessions.sort_by_key(|it| it.begun);
        let each = self.sessions.iter().map(|it| SignedIn {
            age: now.saturating_duration_since(it.begun),
            idle: now.saturating_duration_since(it.used),
            agent: it.agent.clone(),
        });
        each.collect()
    }

    /// Signs every browser out, and takes back all links; how many were in.
    pub(crate) fn clear(&mut self) -> usize {
        let browsers = self.sessions.len();
        self.sessions.clear();
        self.links.clear();
        browsers
    }

    fn forget(&mut self, now: Instant) {
        let within = |since: Instant, life: Duration| now.saturating_duration_since(since) < life;
        self.links.retain(|it| within(it.made, Self::LINK));
        self.sessions
            .retain(|it| within(it.used, Self::IDLE) && within(it.begun, Self::LIFE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entered(browsers: &mut Browsers, now: Instant) -> (String, String) {
        let link = browsers.invite(now);
        let cookie = browsers
            .enter((&link.code, &link.key), "Firefox", now)
            .unwrap();
        (cookie, link.key)
    }

    #[test]
    fn a_link_lets_in_once_with_both_halves_and_not_for_long() {
        let (mut browsers, now) = (Browsers::default(), Instant::now());
        let link = browsers.invite(now);
        let other = browsers.invite(now);
        assert_eq!(browsers.enter((&link.code, "x"), "Firefox", now), None);
        assert_eq!(browsers.enter((&link.code, ""), "Firefox", now), None);
        assert_eq!(browsers.enter(("x", &link.key), "Firefox", now), None);
        assert_eq!(
            browsers.enter((&link.code, &other.key), "Firefox", now),
            None
        );
        assert!(
            browsers
                .enter((&link.code, &link.key), "Firefox", now)
                .is_some()
        );
        assert_eq!(
            browsers.enter((&link.code, &link.key), "Firefox", now),
            None
        );
        let late = now + Browsers::LINK;
        assert_eq!(
            browsers.enter((&other.code, &other.key), "Firefox", late),
            None
        );
        let first = browsers.invite(now);
        for _ in 0..Browsers::MOST {
            browsers.invite(now);
        }
        assert_eq!(
            browsers.enter((&first.code, &first.key), "Firefox", now),
            None
        );
    }

    #[test]
    fn a_session_wants_both_its_halves_and_nobody_elses() {
        let (mut browsers, now) = (Browsers::default(), Instant::now());
        let (cookie, key) = entered(&mut browsers, now);
        let (other, _) = entered(&mut browsers, now);
        assert_ne!(cookie, key);
        assert!(browsers.knows(&cookie, Some(&key), now));
        assert!(browsers.knows(&cookie, None, now));
        for (cookie, key) in [
            (&cookie, Some("x")),
            (&cookie, Some(cookie.as_str())),
            (&other, Some(key.as_str())),
            (&key, Some(key.as_str())),
            (&key, None),
        ] {
            assert!(!browsers.knows(cookie, key, now), "{cookie} {key:?}");
        }
    }

    #[test]
    fn a_session_ends_with_its_last_use_with_its_week_and_with_too_many() {
        let (mut browsers, now) = (Browsers::default(), Instant::now());
        let hours = |n: u64| now + Duration::from_secs(n * 3600);
        let (idle, _) = entered(&mut browsers, now);
        assert!(browsers.knows(&idle, None, hours(11)));
        assert!(browsers.knows(&idle, None, hours(22)));
        assert!(!browsers.knows(&idle, None, hours(34)));
        let (busy, _) = entered(&mut browsers, now);
        let used = (0..168).filter(|n| browsers.knows(&busy, None, hours(*n)));
        assert_eq!(used.count(), 168);
        assert!(!browsers.knows(&busy, None, hours(168)));
        let (first, _) = entered(&mut browsers, now);
        for _ in 0..Browsers::MOST {
            entered(&mut browsers, now);
        }
        assert!(!browsers.knows(&first, None, now));
    }

    #[test]
    fn a_person_is_told_which_browsers_are_in() {
        let (mut browsers, now) = (Browsers::default(), Instant::now());
        let (cookie, _) = entered(&mut browsers, now);
        let later = now + Duration::from_secs(60);
        assert!(browsers.knows(&cookie, None, later));
        let link = browsers.invite(later);
        let long = "x".repeat(2_000);
        assert!(
            browsers
                .enter((&link.code, &link.key), &long, later)
                .is_some()
        );
        let told = browsers.signed_in(now + Duration::from_secs(90));
        let times = |it: &SignedIn| (it.age.as_secs(), it.idle.as_secs(), it.agent.len());
        let told: Vec<_> = told.iter().map(times).collect();
        assert_eq!(told, [(90, 30, 7), (30, 30, 200)]);
    }

    #[test]
    fn who_is_signed_out_comes_in_by_no_old_link() {
        let (mut browsers, now) = (Browsers::default(), Instant::now());
        let (cookie, key) = entered(&mut browsers, now);
        let link = browsers.invite(now);
        assert_eq!(browsers.clear(), 1);
        assert!(!browsers.knows(&cookie, Some(&key), now));
        assert_eq!(
            browsers.enter((&link.code, &link.key), "Firefox", now),
            None
        );
    }
}
