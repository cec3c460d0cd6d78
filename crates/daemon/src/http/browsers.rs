//! Browsers that were let in.
//!
//! Owns the links that let one in once, and the sessions that they open. Both are in memory only: they
//! are gone with the daemon. A session has two halves, and neither opens anything alone: the cookie,
//! which a browser sends to every port of 127.0.0.1 whoever listens there, and the key, which the page
//! keeps for its own origin and sends in a header. Only digests of them are kept.

use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use crate::instance::random;

/// What is kept of a secret. Comparing two of them says nothing about the secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret).into())
    }
}

/// What a link carries: the code in its path, the key in its fragment, which no browser sends.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) code: String,
    pub(crate) key: String,
}

/// A link that nobody has used.
#[derive(Debug)]
struct UnusedLink {
    code: Digest,
    key: Digest,
    made: Instant,
}

/// A browser that is in.
#[derive(Debug)]
struct Session {
    cookie: Digest,
    key: Digest,
    begun: Instant,
    used: Instant,
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

    /// A new link.
    pub(crate) fn invite(&mut self, now: Instant) -> Link {
        self.forget(now);
        if self.links.len() >= Self::MOST {
            self.links.remove(0);
        }
        let (code, key) = (random(), random());
        self.links.push(UnusedLink {
            code: Digest::of(&code),
            key: Digest::of(&key),
            made: now,
        });
        Link { code, key }
    }

    /// Opens a session for whoever has both halves of a link, which is used by that. The answer is the
    /// value of its cookie.
    pub(crate) fn enter(&mut self, code: &str, key: &str, now: Instant) -> Option<String> {
        self.forget(now);
        let (code, key) = (Digest::of(code), Digest::of(key));
        let is_it = |it: &UnusedLink| it.code == code && it.key == key;
        let at = self.links.iter().position(is_it)?;
        self.links.remove(at);
        if self.sessions.len() >= Self::MOST {
            self.sessions.sort_by_key(|it| it.used);
            self.sessions.remove(0);
        }
        let cookie = random();
        self.sessions.push(Session {
            cookie: Digest::of(&cookie),
            key,
            begun: now,
            used: now,
        });
        Some(cookie)
    }

    /// Whether a session has this cookie, and this key where one is asked for.
    pub(crate) fn knows(&mut self, cookie: &str, key: Option<&str>, now: Instant) -> bool {
        self.forget(now);
        let (cookie, key) = (Digest::of(cookie), key.map(Digest::of));
        let is_it = |it: &&mut Session| it.cookie == cookie && key.is_none_or(|key| it.key == key);
        let session = self.sessions.iter_mut().find(is_it);
        session.map(|it| it.used = now).is_some()
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
        let cookie = browsers.enter(&link.code, &link.key, now).unwrap();
        (cookie, link.key)
    }

    #[test]
    fn a_link_lets_in_once_with_both_halves_and_not_for_long() {
        let (mut browsers, now) = (Browsers::default(), Instant::now());
        let link = browsers.invite(now);
        let other = browsers.invite(now);
        assert_eq!(browsers.enter(&link.code, "x", now), None);
        assert_eq!(browsers.enter(&link.code, "", now), None);
        assert_eq!(browsers.enter("x", &link.key, now), None);
        assert_eq!(browsers.enter(&link.code, &other.key, now), None);
        assert!(browsers.enter(&link.code, &link.key, now).is_some());
        assert_eq!(browsers.enter(&link.code, &link.key, now), None);
        let late = now + Browsers::LINK;
        assert_eq!(browsers.enter(&other.code, &other.key, late), None);
        let first = browsers.invite(now);
        for _ in 0..Browsers::MOST {
            browsers.invite(now);
        }
        assert_eq!(browsers.enter(&first.code, &first.key, now), None);
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
    fn who_is_signed_out_comes_in_by_no_old_link() {
        let (mut browsers, now) = (Browsers::default(), Instant::now());
        let (cookie, key) = entered(&mut browsers, now);
        let link = browsers.invite(now);
        assert_eq!(browsers.clear(), 1);
        assert!(!browsers.knows(&cookie, Some(&key), now));
        assert_eq!(browsers.enter(&link.code, &link.key, now), None);
    }
}
