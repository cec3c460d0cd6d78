//! Search: where a text is.

use flagpost_model::search::SearchKind;
use serde_json::{Value, json};

use super::{
    Arguments, Caller, CallerPart, Operation, OperationEntry, ParamKind, Parameter, Run,
    tasks::LIST,
};
use crate::{
    answers::SearchAnswer,
    error::Result,
    index::{self, SearchRequest, SearchScope},
};

/// So many places are told where nobody says how many.
const LIMIT: u64 = 50;

pub(super) const ENTRIES: &[OperationEntry] = &[OperationEntry::new(
    Operation::TextSearch,
    "Where a text is, in the tasks of a list and in the mail and the sessions of its repository",
    Run::Answer("search", search),
)
.asking(&[CallerPart::Repo])
.taking(&[
    Parameter::new("text", ParamKind::Line, "What to look for.").required(),
    LIST,
    Parameter::new(
        "limit",
        ParamKind::Number(0),
        "At most this many places, 50 if not said; 0 for all.",
    ),
])];

fn search(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let repository = caller.repository()?;
    let list = arguments.parsed("list")?;
    let limit = arguments.number("limit").unwrap_or(LIMIT);
    let wanted = SearchRequest {
        text: arguments.needed("text"),
        scope: SearchScope::Of {
            list: Some(list.unwrap_or(repository.name)),
            repository: Some(repository.id),
        },
        kinds: &SearchKind::USUAL,
        limit: usize::try_from(limit).unwrap_or_default(),
    };
    let found = index::ask(caller.home(), |index| index.search(&wanted))?;
    Ok(json!(SearchAnswer::new(wanted.text, &found)))
}
