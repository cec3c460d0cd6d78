//! Which tasks a reader wants to see: options and expressions, which mean the same.
//!
//! Owns the second step of a query: what its words mean on this machine, and where a mistake in one
//! was made.

use flagpost_core::{
    Config, List, Loaded, config,
    tasks::{self, Selected},
};
use flagpost_model::{
    names::{Named, UnknownName},
    query::{Field, Filter, InvalidQuery, Query, SortKey, Test},
};

use crate::{
    context::Context,
    error::{Invalid, Unknown},
};

/// The options that say which tasks.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(
    next_help_heading = "Which tasks: several values mean any of them, several options all of them"
)]
pub struct QueryArgs {
    /// A query, as in 'priority=high tag=api sort=due limit=5'; @NAME is a saved one
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,
    /// In these states
    #[arg(long, value_delimiter = ',', value_parser = of(Field::State))]
    state: Vec<String>,
    /// With this status, as other readers of the files see it: pending, in_progress, completed
    #[arg(long, value_delimiter = ',', value_parser = of(Field::Status))]
    status: Vec<String>,
    /// As urgent as this: critical, high, medium, low, none
    #[arg(long, short, value_delimiter = ',', value_parser = of(Field::Priority))]
    priority: Vec<String>,
    /// Of this project, or none
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = of(Field::Project))]
    project: Vec<String>,
    /// With this label, or none
    #[arg(long, value_delimiter = ',', value_parser = of(Field::Tag))]
    tag: Vec<String>,
    /// Whose: a name, me, none
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = of(Field::Owner))]
    owner: Vec<String>,
    /// Of this feature, or none
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = of(Field::Group))]
    group: Vec<String>,
    /// Due today, tomorrow, overdue, week (the seven days from today on), none, or on a date
    #[arg(long, value_name = "WHEN", value_delimiter = ',', value_parser = of(Field::Due))]
    due: Vec<String>,
    /// With this in the subject, description, notes or results
    #[arg(long, value_parser = of(Field::Text))]
    text: Vec<String>,
    /// In this order: due,-priority has the first due first, of those the most urgent first
    #[arg(long, value_name = "KEYS", value_delimiter = ',', allow_hyphen_values = true, value_parser = key)]
    sort: Vec<SortKey>,
}

/// A value that the field can have.
fn of(field: Field) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
    move |text| match Test::of(field, &[text.to_owned()]) {
        Ok(_) => Ok(text.to_owned()),
        Err(refused) => Err(refused.problem.to_string()),
    }
}

fn key(text: &str) -> Result<SortKey, String> {
    match format!("sort={text}").parse::<Query>() {
        Ok(query) => match query.sort.as_slice() {
            [key] => Ok(*key),
            _ => Err("one key at a time, as in due,-priority".to_owned()),
        },
        Err(refused) => Err(refused.problem.to_string()),
    }
}

/// One of a closed set of words.
pub fn named<T: Named>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|UnknownName { allowed, .. }| format!("use one of {}", allowed.join(", ")))
}

impl QueryArgs {
    /// The query: each option and the expression at once.
    pub fn read(&self, context: &Context) -> anyhow::Result<Query> {
        let mut query = parse(context, &self.expression.join(" "))?;
        let options = [
            (Field::State, &self.state),
            (Field::Status, &self.status),
            (Field::Priority, &self.priority),
            (Field::Project, &self.project),
            (Field::Tag, &self.tag),
            (Field::Owner, &self.owner),
            (Field::Group, &self.group),
            (Field::Due, &self.due),
            (Field::Text, &self.text),
        ];
        for (field, values) in options.iter().filter(|(_, values)| !values.is_empty()) {
            let test = Test::of(*field, values).map_err(|refused| Invalid {
                what: format!("--{field}"),
                reason: refused.problem.to_string(),
            })?;
            query = query.and(Query {
                filter: Some(Filter::Test(test)),
                ..Query::default()
            });
        }
        let sort = self.sort.clone();
        Ok(query.and(Query {
            sort,
            ..Query::default()
        }))
    }
}

/// The query that an expression is. `@NAME` before everything else is a saved one.
pub fn parse(context: &Context, expression: &str) -> anyhow::Result<Query> {
    let mut query = Query::default();
    let mut rest = expression.trim_start();
    while let Some(named) = rest.strip_prefix('@') {
        let end = named.find(char::is_whitespace).unwrap_or(named.len());
        let (name, more) = named.split_at(end);
        query = query.and(saved(context, name)?);
        rest = more.trim_start();
        rest = rest.strip_prefix("and ").unwrap_or(rest).trim_start();
    }
    let before = expression[..expression.len() - rest.len()].chars().count();
    let own: Query = rest
        .parse()
        .map_err(|InvalidQuery { at, problem }| Invalid {
            what: format!("the query {:?}", shortened(expression)),
            reason: InvalidQuery {
                at: at + before,
                problem,
            }
            .to_string(),
        })?;
    Ok(query.and(own))
}

/// As much of an expression as tells it from others.
fn shortened(expression: &str) -> String {
    const LONGEST: usize = 200;
    match expression.char_indices().nth(LONGEST) {
        None => expression.to_owned(),
        Some((end, _)) => format!("{}…", &expression[..end]),
    }
}

fn saved(context: &Context, name: &str) -> anyhow::Result<Query> {
    let config = Config::read(&context.home)?;
    let found = match name.parse() {
        Ok(id) => config.query(&id)?,
        Err(_) => None,
    };
    let Some(text) = found else {
        let names = config.queries();
        let mut names: Vec<_> = names.map(|it| it.replacen("queries.", "@", 1)).collect();
        if names.is_empty() {
            names.push("none; 'flagpost config set queries.NAME EXPR' saves one".to_owned());
        }
        return Err(Unknown::new("saved query", name, names).into());
    };
    let place = format!("queries.{name} in {}", config.path().display());
    Ok(config::query_of(&place, &text)?)
}

/// The tasks that fit; at most so many where the query has no limit of its own, 0 for all.
pub fn select<'o>(
    context: &Context,
    list: &List<'_>,
    loaded: &'o Loaded,
    query: &Query,
    limit: usize,
) -> anyhow::Result<Selected<'o>> {
    // Who cannot say who he is may read all the same.
    let me = query.names_me().then(|| context.actor()).transpose()?;
    Ok(tasks::select(list, loaded, query, me.as_ref(), limit)?)
}
