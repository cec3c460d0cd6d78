//! What the operator's rules say to a request, before a person is asked.
//!
//! Owns where the rules come from: the policy that counts, and the line of the history in which whoever began a run
//! allowed it something. What follows from them is the model's.

use std::path::{Path, PathBuf};

use flagpost_disk::process;
use flagpost_model::{
    SessionId, WorkerId,
    decision::Via,
    glob::Glob,
    permission::{
        self, PermissionDecision, PermissionRefusal, PermissionRequest, Verdict,
        rule::{PermissionRule, RequestInput, Ruling, WorkedOn, consult},
    },
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{PermissionOrder, Permissions, StoredRequest, lines::text};
use crate::{
    error::{Error, Result},
    files,
    history::{Entry, Kind},
    policy,
};

/// What the line of a run's rules calls them.
const ALLOW: &str = "allow";

/// A rule that would allow requests from now on.
#[derive(Debug)]
pub struct AlwaysRule {
    /// The rule.
    pub rule: PermissionRule,
    /// The requests that wait and that it allows, by number: the one it was made from, and others.
    pub meant: Vec<u64>,
}

impl Permissions<'_> {
    /// The rule that would allow a request and its like from now on. One that another rule asks about is refused:
    /// that rule would still ask.
    pub fn rule_for(&self, found: &StoredRequest) -> Result<PermissionRule> {
        Ok(self.rule_beside(found)?.0)
    }

    /// The same, with the requests that it would allow.
    pub fn always(&self, n: u64) -> Result<AlwaysRule> {
        let (rule, beside) = self.rule_beside(&self.find(n)?)?;
        let all = self.scan()?.all.into_iter();
        let is_meant = |it: &StoredRequest| {
            it.waits() && it.is_as_asked && self.is_allowed(it.request(), &beside, &rule)
        };
        let meant = all.filter(is_meant).map(|it| it.n).collect();
        Ok(AlwaysRule { rule, meant })
    }

    /// The rule that would allow a request, and those of the policy that it would stand beside.
    fn rule_beside(&self, found: &StoredRequest) -> Result<(PermissionRule, Vec<PermissionRule>)> {
        let (n, request) = (found.n, found.request());
        let subject = (n, request);
        permission::decide(subject, found.ended, found.is_as_asked, Verdict::Allowed)?;
        let policy = policy::as_accepted(self.home, &self.repo)?;
        let beside = policy.ok_or(Error::PolicyWithheld)?.permissions;
        let rule = PermissionRule::always(request, &input_of(request));
        match self.is_allowed(request, &beside, &rule) {
            true => Ok((rule, beside)),
            false => Err(Error::RuleAsks { n }),
        }
    }

    /// Whether these rules and one more allow a request.
    fn is_allowed(
        &self,
        request: &PermissionRequest,
        rules: &[PermissionRule],
        more: &PermissionRule,
    ) -> bool {
        let rules: Vec<&PermissionRule> = rules.iter().chain([more]).collect();
        let ruling = consult(&rules, request, &input_of(request), self.home.now());
        matches!(
            ruling,
            Some(Ruling::Decided {
                verdict: Verdict::Allowed,
                ..
            })
        )
    }

    /// Adds such a rule to the policy, which counts with it, and allows the requests that were shown with it, durable
    /// on return: the policy's file, and the requests.
    pub fn allow_always(
        &self,
        actor: &WorkerId,
        always: &AlwaysRule,
        via: Via,
    ) -> Result<(PathBuf, Vec<StoredRequest>)> {
        let path = policy::add(self.home, &self.repo, actor, &always.rule)?;
        let mut allowed = Vec::new();
        let order = PermissionOrder {
            verdict: Verdict::Allowed,
            via,
            reason: None,
            identical_too: false,
        };
        for n in &always.meant {
            match self.decide(actor, &[*n], &order) {
                Ok(decided) => allowed.extend(decided),
                // The rule stands, whatever became of a request meanwhile.
                Err(Error::Permission(PermissionRefusal::Over { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Ok((path, allowed))
    }

    /// Allows the agents of a session commands like these, durable on return: the number of the line that says so.
    pub fn open_session(
        &self,
        actor: &WorkerId,
        session: &SessionId,
        commands: &[Glob],
    ) -> Result<u64> {
        let texts: Vec<String> = commands.iter().map(ToString::to_string).collect();
        let entry = Entry::new(Kind::PermissionRules)
            .session(session)
            .detail(ALLOW, json!(texts))
            .detail("hand", json!(process::own_identity()));
        let history = self.history();
        self.home.transact(|| {
            let entries = (vec![entry.clone()], &[][..]);
            history.record_found(actor, self.home.now(), entries)
        })
    }

    /// What the rules decide on a request; none where a person is asked. `line` is that of its run's rules. Where the
    /// policy does not count as it was accepted, nobody knows what it would deny, and nothing is decided.
    pub(super) fn ruled(
        &self,
        request: &PermissionRequest,
        line: Option<&(u64, SessionId)>,
        now: Timestamp,
    ) -> Result<Option<PermissionDecision>> {
        // What is wrong with it 'status' and 'doctor' say.
        let Ok(Some(policy)) = policy::as_accepted(self.home, &self.repo) else {
            return Ok(None);
        };
        let run = line.map(|line| self.run_rules(line)).transpose()?.flatten();
        let (by, of_run) = run.unzip();
        let of_run = of_run.unwrap_or_default();
        let rules: Vec<&PermissionRule> = policy.permissions.iter().chain(&of_run).collect();
        let ruling = consult(&rules, request, &input_of(request), now);
        let Some(Ruling::Decided { verdict, rules }) = ruling else {
            return Ok(None);
        };
        let is_of_run = |rule: &&PermissionRule| of_run.contains(rule);
        let (by, via, sha256) = match by.filter(|_| rules.iter().all(is_of_run)) {
            Some(by) => (by, Via::Run, None),
            None => (Via::Policy.as_str().parse()?, Via::Policy, policy.sha256),
        };
        let mut names: Vec<String> = rules.iter().map(ToString::to_string).collect();
        names.sort();
        names.dedup();
        Ok(Some(PermissionDecision {
            verdict,
            by,
            at: now,
            via: Some(via),
            reason: None,
            rule: Some(names.join("; ")),
            policy: sha256,
            hand: None,
            line: 0,
        }))
    }

    /// Decides by the policy on what was asked before it counted, durable on return: how many requests.
    pub fn decide_by_policy(&self) -> Result<usize> {
        self.home.transact(|| {
            let change = self.change()?;
            let mut decided = 0;
            for found in self.scan()?.all {
                let ruled = match found.waits() && found.is_as_asked {
                    true => self.ruled(found.request(), None, change.at)?,
                    false => None,
                };
                if let Some(decision) = ruled {
                    self.put(&decision.by, vec![found], &decision)?;
                    decided += 1;
                }
            }
            Ok(decided)
        })
    }

    /// Who began the run that this line tells of, and its rules; none where it tells of something else.
    fn run_rules(
        &self,
        (line, session): &(u64, SessionId),
    ) -> Result<Option<(WorkerId, Vec<PermissionRule>)>> {
        let line = self.history().line(*line, &self.window)?;
        let line = line.filter(|it| {
            it.entry.kind == Kind::PermissionRules
                && text(&it.entry, "session") == Some(session.as_str())
        });
        let rules = line.and_then(|line| {
            let texts = line.entry.detail.get(ALLOW)?.as_array()?.iter();
            let globs = texts
                .filter_map(Value::as_str)
                .filter_map(|it| it.parse().ok());
            let rules = globs.map(PermissionRule::allowing).collect();
            Some((line.entry.actor?, rules))
        });
        Ok(rules)
    }
}

/// What the tool of a request is called with, its path as links lead: below the top of the agent's working tree from
/// there, else from the root.
fn input_of(request: &PermissionRequest) -> RequestInput {
    RequestInput::of(request, |path| {
        let dir = files::real(request.dir.as_ref()?.as_ref());
        let file = dir.join(path);
        // Nobody knows where a link will lead that leads nowhere yet, nor whether a client follows one before "..".
        let is_open = |it: &Path| it.is_symlink() && !it.exists();
        let real = files::real(&file);
        if file.ancestors().any(is_open) || files::real(&files::plain(&file)) != real {
            return None;
        }
        let top = dir.ancestors().find(|it| it.join(".git").exists());
        let inside = real.strip_prefix(top.unwrap_or(&dir));
        Some(WorkedOn {
            file: inside.unwrap_or(&real).to_str()?.to_owned(),
            real: real.to_str()?.to_owned(),
        })
    })
}
