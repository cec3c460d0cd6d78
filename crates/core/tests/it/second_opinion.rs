//! The rules of a list of tasks, written a second time from the specification and as plainly as
//! possible: no files, no graph, no history.

use std::collections::{BTreeMap, BTreeSet};

/// An answer: nothing, or the word for the refusal.
pub type Answer<T = ()> = Result<T, &'static str>;

pub const LEASE: i64 = 15;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    pub who: u8,
    pub token: u64,
    /// In minutes.
    pub until: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Item {
    /// As history calls it.
    pub state: &'static str,
    pub hold: Option<Hold>,
    pub waits_for: BTreeSet<u64>,
    /// Who, with which token, said what too late.
    pub late: BTreeSet<(u8, Option<u64>, &'static str)>,
}

#[derive(Debug, Default)]
pub struct SecondOpinion {
    pub items: BTreeMap<u64, Item>,
    pub now: i64,
    last: u64,
}

impl SecondOpinion {
    pub fn add(&mut self, after: &[u64]) -> Answer<u64> {
        // The number is gone even where the rest is refused.
        self.last += 1;
        match after.iter().find(|on| !self.items.contains_key(on)) {
            Some(on) if *on == self.last => return Err("cycle"),
            Some(_) => return Err("unknown"),
            None => {}
        }
        let item = Item {
            state: "pending",
            waits_for: after.iter().copied().collect(),
            ..Item::default()
        };
        self.items.insert(self.last, item);
        Ok(self.last)
    }

    /// Whether it could be claimed; the token is known only afterwards.
    pub fn may_claim(&self, who: u8, id: u64) -> Answer {
        let item = self.items.get(&id).ok_or("missing")?;
        match item.hold.filter(|hold| self.now < hold.until) {
            Some(hold) if hold.who == who => return Err("yours"),
            Some(_) => return Err("held"),
            None => {}
        }
        if item.state != "pending" && item.hold.is_none() {
            return Err("wrong");
        }
        if self.is_blocked(item) {
            return Err("blocked");
        }
        Ok(())
    }

    pub fn claimed(&mut self, who: u8, id: u64, token: u64) {
        let until = self.now + LEASE;
        let item = self.item(id);
        item.state = "claimed";
        item.hold = Some(Hold { who, token, until });
    }

    /// What would be claimed next: what most others wait for, then the lowest id.
    pub fn next(&self) -> Option<u64> {
        let ready = self
            .items
            .keys()
            .filter(|id| self.may_claim(u8::MAX, **id).is_ok());
        ready.copied().min_by_key(|id| {
            let waiting = self.items.values().filter(|it| it.waits_for.contains(id));
            let open =
                waiting.filter(|it| matches!(it.state, "pending" | "claimed" | "in_progress"));
            (-i64::try_from(open.count()).unwrap(), *id)
        })
    }

    /// Whether starting claims first.
    pub fn start_claims(&self, who: u8, id: u64, token: Option<u64>) -> bool {
        let hold = self.items.get(&id).and_then(|item| item.hold);
        token.is_none() && hold.is_none_or(|hold| hold.who != who)
    }

    pub fn start(&mut self, who: u8, id: u64, token: Option<u64>) -> Answer {
        self.own(who, id, token)?;
        self.renew_hold(id);
        self.item(id).state = "in_progress";
        Ok(())
    }

    pub fn renew(&mut self, who: u8, id: u64, token: Option<u64>) -> Answer {
        self.own(who, id, token)?;
        self.renew_hold(id);
        Ok(())
    }

    pub fn finish(&mut self, who: u8, id: u64, token: Option<u64>, how: &'static str) -> Answer {
        match self.may_finish(who, id, token, how) {
            Err("missing") => Err("missing"),
            // Whoever has something to tell is heard, if not obeyed.
            Err("stale" | "held" | "wrong" | "unclaimed") => {
                self.item(id).late.insert((who, token, how));
                Err("late")
            }
            Err(other) => Err(other),
            Ok(()) => {
                let item = self.item(id);
                item.state = how;
                item.hold = None;
                Ok(())
            }
        }
    }

    fn may_finish(&self, who: u8, id: u64, token: Option<u64>, how: &str) -> Answer {
        let item = self.items.get(&id).ok_or("missing")?;
        if item.state == "pending" && token.is_none() && how == "completed" {
            return if self.is_blocked(item) {
                Err("blocked")
            } else {
                Ok(())
            };
        }
        self.own(who, id, token)
    }

    pub fn release(&mut self, who: u8, id: u64, token: Option<u64>, force: bool) -> Answer {
        match self.own(who, id, token) {
            Err("held") if force => {}
            other => other?,
        }
        self.free(id);
        Ok(())
    }

    pub fn reopen(&mut self, id: u64, token: Option<u64>) -> Answer {
        let item = self.items.get(&id).ok_or("missing")?;
        self.not_stale(item, token)?;
        if matches!(item.state, "pending" | "claimed" | "in_progress") {
            return Err("wrong");
        }
        self.free(id);
        Ok(())
    }

    pub fn cancel(&mut self, who: u8, id: u64, token: Option<u64>) -> Answer {
        let item = self.items.get(&id).ok_or("missing")?;
        self.not_stale(item, token)?;
        if matches!(item.state, "completed" | "cancelled") {
            return Err("wrong");
        }
        self.not_another(item, who)?;
        let item = self.item(id);
        item.state = "cancelled";
        item.hold = None;
        Ok(())
    }

    pub fn remove(&mut self, who: u8, id: u64) -> Answer {
        let item = self.items.get(&id).ok_or("missing")?;
        self.not_another(item, who)?;
        self.items.remove(&id);
        for other in self.items.values_mut() {
            other.waits_for.remove(&id);
        }
        Ok(())
    }

    pub fn link(&mut self, id: u64, on: u64) -> Answer {
        if id == on || self.reaches(on, id) {
            return Err("cycle");
        }
        if !self.items.contains_key(&on) {
            return Err("unknown");
        }
        self.items
            .get_mut(&id)
            .ok_or("missing")?
            .waits_for
            .insert(on);
        Ok(())
    }

    pub fn unlink(&mut self, id: u64, on: u64) -> Answer {
        self.items
            .get_mut(&id)
            .ok_or("missing")?
            .waits_for
            .remove(&on);
        Ok(())
    }

    fn reaches(&self, from: u64, to: u64) -> bool {
        let waits = self.items.get(&from).map(|item| &item.waits_for);
        waits.is_some_and(|on| on.iter().any(|on| *on == to || self.reaches(*on, to)))
    }

    /// The caller holds it, live or not, and shows no other token.
    fn own(&self, who: u8, id: u64, token: Option<u64>) -> Answer {
        let item = self.items.get(&id).ok_or("missing")?;
        self.not_stale(item, token)?;
        match item.hold {
            Some(hold) if hold.who == who => Ok(()),
            Some(_) => Err("held"),
            None if item.state == "pending" => Err("unclaimed"),
            None => Err("wrong"),
        }
    }

    fn not_stale(&self, item: &Item, token: Option<u64>) -> Answer {
        let current = item.hold.map(|hold| hold.token);
        match token {
            Some(_) if token != current => Err("stale"),
            _ => Ok(()),
        }
    }

    fn not_another(&self, item: &Item, who: u8) -> Answer {
        match item.hold.filter(|hold| self.now < hold.until) {
            Some(hold) if hold.who != who => Err("held"),
            _ => Ok(()),
        }
    }

    fn is_blocked(&self, item: &Item) -> bool {
        let mut on = item.waits_for.iter();
        on.any(|on| self.items[on].state != "completed")
    }

    fn renew_hold(&mut self, id: u64) {
        let full = self.now + LEASE;
        if let Some(hold) = &mut self.item(id).hold {
            hold.until = hold.until.max(full);
        }
    }

    fn free(&mut self, id: u64) {
        let item = self.item(id);
        item.state = "pending";
        item.hold = None;
    }

    fn item(&mut self, id: u64) -> &mut Item {
        self.items.get_mut(&id).expect("the caller has looked")
    }
}
