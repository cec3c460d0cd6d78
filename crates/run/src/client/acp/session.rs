//! One conversation with an agent over the Agent Client Protocol, from its first frame to its end.
//!
//! Owns the order of what is said, and what follows from each thing that comes. Invariants: a call is answered once;
//! none is allowed once the conversation was stopped; an agent works in no mode in which nobody would be asked; a turn
//! that ends without a report is followed by another, which says what was refused or asks for the report, once. Pure: whoever
//! owns the agent's process does what it says.

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
};

use flagpost_model::hook::ToolCall;
use serde_json::Value;

use super::{
    call, choice,
    log_line::LogLine,
    wire::{
        self, AcpCall, AgentInfo, Introduction, OpenedSession, PermissionAsk, PermissionOption,
        SessionUpdate, TurnEnd,
    },
};
use crate::client::{
    reader::action,
    talk::{
        CallVerdict, Dialog, TalkEffect,
        frame::{self, Frame},
    },
};

/// So many turns an agent has at most: one that is refused the same again and again would never end.
const TURNS: usize = 8;

/// So many calls may be under way at once.
const CALLS: usize = 256;

/// An agent that asks about each call of a tool and does not say whose tool it is: what it asks could not be told
/// from what a rule would have to deny. It is given none of ours.
const WITHOUT_TOOLS: &[&str] = &["gemini-cli"];

/// What a conversation begins with.
#[derive(Debug, Clone)]
pub(super) struct SessionTerms {
    /// Where the agent works.
    pub dir: PathBuf,
    /// What it is told.
    pub prompt: String,
    /// The conversation that goes on, by its agent's name for it.
    pub resumes: Option<String>,
    /// Servers of tools, as the protocol describes them.
    pub servers: Vec<Value>,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Introduction,
    Opening,
    Mode,
    Turn,
    BetweenTurns,
    Over,
}

/// A call that waits for a decision.
#[derive(Debug)]
struct OpenAsk {
    id: Value,
    options: Vec<PermissionOption>,
    call_id: String,
    call: ToolCall,
}

impl OpenAsk {
    /// What the call works on, in a line.
    fn about(&self) -> String {
        action::what(&self.call.input)
    }

    /// The answer: this option, or none.
    fn answered(&self, option: Option<&str>) -> TalkEffect {
        TalkEffect::Send(wire::permission(&self.id, option))
    }
}

/// A conversation.
#[derive(Debug)]
pub(super) struct AcpSession {
    terms: SessionTerms,
    stage: Stage,
    /// The id of our last request, whose answer is awaited.
    awaited: u64,
    agent: AgentInfo,
    session: String,
    mode: Option<String>,
    /// What is known of the calls that are under way, the oldest first.
    calls: VecDeque<AcpCall>,
    asks: BTreeMap<u64, OpenAsk>,
    asked: u64,
    /// The calls of this turn that were allowed: opencode asks about one several times, for each of its reasons.
    allowed: Vec<(String, ToolCall)>,
    /// What was refused in this turn.
    refused: Vec<String>,
    turns: usize,
    /// Whether the agent was asked how its attempt ended.
    is_asked: bool,
    is_stopped: bool,
}

impl AcpSession {
    /// One that is about to begin.
    pub fn new(terms: SessionTerms) -> Self {
        Self {
            terms,
            stage: Stage::Introduction,
            awaited: 0,
            agent: AgentInfo::default(),
            session: String::new(),
            mode: None,
            calls: VecDeque::new(),
            asks: BTreeMap::new(),
            asked: 0,
            allowed: Vec::new(),
            refused: Vec::new(),
            turns: 0,
            is_asked: false,
            is_stopped: false,
        }
    }

    /// What follows from what the agent sent.
    fn take(&mut self, frame: Frame) -> Vec<TalkEffect> {
        match frame {
            Frame::Answer { id, result } if id == self.awaited => match (self.stage, result) {
                (Stage::Introduction, Ok(result)) => self.introduced(&result),
                (Stage::Opening, Ok(result)) => self.opened(&result),
                (Stage::Mode, Ok(_)) => self.first_turn(),
                (Stage::Turn, Ok(result)) => self.turn_ended(&result),
                (Stage::BetweenTurns | Stage::Over, _) => Vec::new(),
                (stage, Err(error)) => self.failed(stage, &error.words()),
            },
            Frame::Answer { .. } => Vec::new(),
            Frame::Request { id, method, params } if method == "session/request_permission" => {
                self.asks(id, &params)
            }
            // opencode asks us to write files that it has written itself, whatever we offered.
            Frame::Request { id, method, .. } => {
                let words = format!("{method} is not offered");
                let refusal = frame::refusal(&id, frame::NO_SUCH_METHOD, &words);
                vec![TalkEffect::Send(refusal)]
            }
            Frame::Notice { method, mut params } if method == "session/update" => {
                let update = params
                    .get_mut("update")
                    .map(Value::take)
                    .unwrap_or_default();
                self.note(update);
                Vec::new()
            }
            Frame::Notice { .. } => Vec::new(),
        }
    }

    /// An agent that ended its turn without a report is asked for it, once. It is asked here and not by another process:
    /// some know nothing of a conversation once its process is gone.
    fn ask_for_report(&mut self) -> Vec<TalkEffect> {
        if std::mem::replace(&mut self.is_asked, true) {
            return self.end(Ok(()));
        }
        let words = "You ended without a report. Write $FLAGPOST_REPORT, or run `flagpost done`, `flagpost fail` or \
                     `flagpost stuck` with your words behind it; change nothing else.";
        let mut effects = vec![log(&LogLine::Question), TalkEffect::AwaitReport];
        effects.extend(self.turn(words));
        effects
    }

    fn request(&mut self, stage: Stage, make: impl FnOnce(u64) -> Value) -> Vec<TalkEffect> {
        self.awaited += 1;
        self.stage = stage;
        vec![TalkEffect::Send(make(self.awaited))]
    }

    fn introduced(&mut self, result: &Value) -> Vec<TalkEffect> {
        let Some(told) = read::<Introduction>(result) else {
            return self.end(Err("its answer to initialize cannot be read".to_owned()));
        };
        if told.protocol_version != wire::VERSION {
            let version = told.protocol_version;
            return self.end(Err(format!(
                "it speaks version {version} of the Agent Client Protocol, and this is version {}",
                wire::VERSION
            )));
        }
        if self.terms.resumes.is_some() && !told.agent_capabilities.load_session {
            return self.end(Err("it takes up no conversation again".to_owned()));
        }
        self.agent = told.agent_info.unwrap_or_default();
        if WITHOUT_TOOLS.contains(&self.agent.name.as_str()) {
            self.terms.servers.clear();
        }
        let terms = self.terms.clone();
        self.request(Stage::Opening, |id| {
            wire::open(id, &terms.dir, &terms.servers, terms.resumes.as_deref())
        })
    }

    fn opened(&mut self, result: &Value) -> Vec<TalkEffect> {
        let opened = read::<OpenedSession>(result).unwrap_or_default();
        // Who goes on with a conversation is not told its name again.
        let id = opened.session_id.clone().or(self.terms.resumes.clone());
        let Some(session) = id.filter(|id| !id.is_empty()) else {
            return self.end(Err("it opened a conversation without a name".to_owned()));
        };
        self.session.clone_from(&session);
        // What it repeated of an earlier conversation is over.
        self.calls.clear();
        let (setting, offered) = match (&opened.modes, opened.mode_setting()) {
            (Some(modes), _) if !modes.available_modes.is_empty() => (None, modes.clone()),
            (_, Some((setting, offered))) => (Some(setting), offered),
            (_, None) => return self.first_turn(),
        };
        let Some(mode) = choice::mode(&offered).map(str::to_owned) else {
            let ids = offered.available_modes.iter().map(|it| it.id.as_str());
            let ids = ids.collect::<Vec<_>>().join(", ");
            return self.end(Err(format!(
                "it offers no mode in which it asks before it does harm: {ids}"
            )));
        };
        self.mode = Some(mode.clone());
        self.request(Stage::Mode, |id| match setting {
            None => {
                let params = serde_json::json!({"sessionId": session, "modeId": mode});
                frame::request(id, "session/set_mode", params)
            }
            Some(setting) => {
                let params = serde_json::json!({
                    "sessionId": session, "configId": setting, "value": mode,
                });
                frame::request(id, "session/set_config_option", params)
            }
        })
    }

    fn first_turn(&mut self) -> Vec<TalkEffect> {
        let line = LogLine::Session {
            session: self.session.clone(),
            agent: Some(self.agent.name.clone()).filter(|it| !it.is_empty()),
            version: self.agent.version.clone(),
            mode: self.mode.clone(),
        };
        let mut effects = vec![log(&line)];
        let prompt = self.terms.prompt.clone();
        effects.extend(self.turn(&prompt));
        effects
    }

    fn turn(&mut self, words: &str) -> Vec<TalkEffect> {
        self.turns += 1;
        self.allowed.clear();
        let session = self.session.clone();
        self.request(Stage::Turn, |id| wire::prompt(id, &session, words))
    }

    fn turn_ended(&mut self, result: &Value) -> Vec<TalkEffect> {
        let end = read::<TurnEnd>(result).unwrap_or_default();
        let (read, written) = end.tokens();
        // What its agent asked and did not wait for is asked no more.
        let asks = std::mem::take(&mut self.asks).into_keys();
        let mut effects: Vec<TalkEffect> = asks.map(TalkEffect::Withdraw).collect();
        if read.or(written).is_some() {
            effects.push(log(&LogLine::Used { read, written }));
        }
        let is_refused = !self.refused.is_empty();
        effects.extend(match end.stop_reason.as_str() {
            _ if self.is_stopped => self.end(Err(STOPPED.to_owned())),
            // Some end their turn so when something was refused, and some do it without a word.
            reason if reason == "end_turn" || (reason == "cancelled" && is_refused) => {
                self.stage = Stage::BetweenTurns;
                vec![TalkEffect::SayWhetherReported]
            }
            "" => self.end(Err("its turn ended without a reason".to_owned())),
            reason => self.end(Err(format!("its turn ended with: {reason}"))),
        });
        effects
    }

    fn failed(&mut self, stage: Stage, words: &str) -> Vec<TalkEffect> {
        let doing = match stage {
            Stage::Introduction => "it does not begin",
            Stage::Opening if self.terms.resumes.is_some() => {
                "it cannot take the conversation up again"
            }
            Stage::Opening => "it opens no conversation",
            Stage::Mode => "it does not take the mode in which it asks",
            Stage::Turn | Stage::BetweenTurns | Stage::Over => "its turn failed",
        };
        self.end(Err(format!("{doing}: {words}")))
    }

    fn end(&mut self, result: Result<(), String>) -> Vec<TalkEffect> {
        self.stage = Stage::Over;
        let error = result.as_ref().err().cloned();
        vec![log(&LogLine::Ended { error }), TalkEffect::End(result)]
    }

    fn asks(&mut self, id: Value, params: &Value) -> Vec<TalkEffect> {
        let Some(ask) = read::<PermissionAsk>(params) else {
            let words = "what is asked cannot be understood";
            let refusal = frame::refusal(&id, frame::BAD_PARAMETERS, words);
            return vec![TalkEffect::Send(refusal)];
        };
        if self.is_stopped || self.stage != Stage::Turn {
            return vec![TalkEffect::Send(wire::permission(&id, None))];
        }
        let known = |it: &&AcpCall| it.tool_call_id == ask.tool_call.tool_call_id;
        let announced = self.calls.iter().find(known);
        let asked = call::asked(announced, &ask.tool_call, &self.terms.dir);
        let open = OpenAsk {
            id,
            options: ask.options,
            call_id: ask.tool_call.tool_call_id,
            call: asked.call.clone(),
        };
        let is_same = |it: &&(String, ToolCall)| it.0 == open.call_id && it.1 == open.call;
        let is_allowed = self.allowed.iter().find(is_same).is_some();
        if let Some(option) = choice::option(&open.options, true).filter(|_| is_allowed) {
            return vec![open.answered(Some(option))];
        }
        self.asked += 1;
        self.asks.insert(self.asked, open);
        vec![TalkEffect::Ask(self.asked, Box::new(asked))]
    }

    /// Keeps what is told of calls: what is asked about one later is told with less.
    fn note(&mut self, update: Value) {
        let Ok(SessionUpdate::ToolCall(call) | SessionUpdate::ToolCallUpdate(call)) =
            serde_json::from_value(update)
        else {
            return;
        };
        let at = self
            .calls
            .iter()
            .position(|it| it.tool_call_id == call.tool_call_id);
        match at.and_then(|at| self.calls.get_mut(at).map(|known| (at, known))) {
            Some((at, _)) if call.is_over() => drop(self.calls.remove(at)),
            Some((_, known)) => known.update(call),
            None if call.is_over() => {}
            None => {
                if self.calls.len() == CALLS {
                    self.calls.pop_front();
                }
                self.calls.push_back(call);
            }
        }
    }
}

impl Dialog for AcpSession {
    fn id(&self) -> Option<&str> {
        Some(self.session.as_str()).filter(|id| !id.is_empty())
    }

    fn begin(&mut self) -> Vec<TalkEffect> {
        self.awaited += 1;
        vec![TalkEffect::Send(wire::initialize(self.awaited))]
    }

    fn hear(&mut self, line: &[u8]) -> Vec<TalkEffect> {
        let Some(frame) = Frame::read(line) else {
            // Words for a person, perhaps.
            return vec![TalkEffect::Log(line.to_vec())];
        };
        // What it repeats of an earlier conversation was logged then.
        let is_told = self.stage == Stage::Turn && is_shown(&frame);
        let mut effects: Vec<TalkEffect> = is_told
            .then(|| TalkEffect::Log(line.to_vec()))
            .into_iter()
            .collect();
        effects.extend(self.take(frame));
        effects
    }

    fn decided(&mut self, n: u64, verdict: CallVerdict) -> Vec<TalkEffect> {
        let Some(ask) = self.asks.remove(&n) else {
            return Vec::new();
        };
        let refused = match (verdict, choice::option(&ask.options, true)) {
            (CallVerdict::Withdrawn, _) => return vec![ask.answered(None)],
            (CallVerdict::Allowed, Some(option)) => {
                let answer = ask.answered(Some(option));
                self.allowed.push((ask.call_id, ask.call));
                return vec![answer];
            }
            (CallVerdict::Allowed, None) => {
                "It was allowed once, which its client has no way to be told".to_owned()
            }
            (CallVerdict::Refused(why), _) => why,
        };
        let (tool, what) = (ask.call.tool.clone(), ask.about());
        self.refused.push(format!("- {tool} {what}: {refused}"));
        let why = refused;
        // Where it cannot be refused once, the agent is told that nobody answers.
        vec![
            log(&LogLine::Refused { tool, what, why }),
            ask.answered(choice::option(&ask.options, false)),
        ]
    }

    fn go_on(&mut self, has_reported: bool) -> Vec<TalkEffect> {
        let refused = std::mem::take(&mut self.refused);
        if has_reported || self.is_stopped || self.turns >= TURNS {
            return self.end(Ok(()));
        }
        if refused.is_empty() {
            return self.ask_for_report();
        }
        let words = format!(
            "You asked to do this, and it was refused:\n\n{}\n\nGo on without it, and do not try it again. Before you \
             end, report as your task says: `flagpost done`, `flagpost fail`, or `flagpost stuck` with what you need.",
            refused.join("\n")
        );
        let refused = refused.len();
        let mut effects = vec![log(&LogLine::Turn { refused })];
        effects.extend(self.turn(&words));
        effects
    }

    fn give_up(&mut self) -> Vec<TalkEffect> {
        self.end(Ok(()))
    }

    fn stop(&mut self) -> Vec<TalkEffect> {
        self.is_stopped = true;
        match self.stage {
            Stage::Turn => {
                let cancel = TalkEffect::Send(wire::cancel(&self.session));
                let asks = std::mem::take(&mut self.asks).into_values();
                let answers = asks.map(|it| it.answered(None));
                std::iter::once(cancel).chain(answers).collect()
            }
            Stage::Over => Vec::new(),
            Stage::Introduction | Stage::Opening | Stage::Mode | Stage::BetweenTurns => {
                self.end(Err(STOPPED.to_owned()))
            }
        }
    }

    fn gone(&mut self, why: &str) -> Vec<TalkEffect> {
        match self.stage {
            Stage::Over => Vec::new(),
            _ if self.is_stopped => self.end(Err(STOPPED.to_owned())),
            _ => self.end(Err(why.to_owned())),
        }
    }
}

/// Whether somebody who reads a log learns something from it.
fn is_shown(frame: &Frame) -> bool {
    match frame {
        Frame::Notice { method, params } if method == "session/update" => {
            let update = params
                .pointer("/update/sessionUpdate")
                .and_then(Value::as_str);
            let told = [
                "agent_message_chunk",
                "tool_call",
                "tool_call_update",
                "plan",
            ];
            update.is_some_and(|it| told.contains(&it))
        }
        Frame::Notice { .. } | Frame::Request { .. } | Frame::Answer { .. } => false,
    }
}

/// A line of ours.
fn log(line: &LogLine) -> TalkEffect {
    TalkEffect::Log(serde_json::json!(line).to_string().into_bytes())
}

/// Why a conversation ended that was told to.
const STOPPED: &str = "it was stopped";

/// What an agent answered, so far as it can be read.
fn read<'v, T: serde::Deserialize<'v>>(value: &'v Value) -> Option<T> {
    T::deserialize(value).ok()
}

#[cfg(test)]
mod tests;
