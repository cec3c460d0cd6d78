//! From a text to a query.
//!
//! Owns the grammar of the room's page. Nesting is bounded, so that no text exhausts the stack.

use std::str::FromStr;

use super::{
    Filter, Query,
    lex::{Op, Piece, QueryToken, tokens},
    mistake::{InvalidQuery, Problem, nearest},
    order::{OrderKey, SortKey},
    test::{Comparison, Field, Test, Typed},
};

/// Nobody reads a query that is nested deeper.
const DEEPEST: usize = 64;

impl FromStr for Query {
    type Err = InvalidQuery;

    fn from_str(text: &str) -> Result<Self, InvalidQuery> {
        let mut parser = Parser {
            tokens: tokens(text)?,
            end: text.chars().count(),
            next: 0,
            depth: 0,
            query: Self::default(),
        };
        if !parser.tokens.is_empty() {
            parser.query.filter = parser.or()?;
        }
        match parser.peek() {
            None => Ok(parser.query),
            Some(token) => Err(parser.unexpected("a comparison or a word", Some(token))),
        }
    }
}

struct Parser {
    tokens: Vec<QueryToken>,
    end: usize,
    next: usize,
    depth: usize,
    query: Query,
}

type Parsed<T> = Result<T, InvalidQuery>;

impl Parser {
    /// Without a filter where only clauses stand.
    fn or(&mut self) -> Parsed<Option<Filter>> {
        let mut parts = Vec::new();
        let first_at = self.at();
        let first = self.and()?;
        let Some(or) = self.keyword("or") else {
            return Ok(first);
        };
        parts.push(first.ok_or_else(|| lonely(or, first_at))?);
        loop {
            let at = self.at();
            parts.push(self.and()?.ok_or_else(|| lonely(or, at))?);
            if self.keyword("or").is_none() {
                return Ok(Some(Filter::Any(parts)));
            }
        }
    }

    fn and(&mut self) -> Parsed<Option<Filter>> {
        let mut parts = Vec::new();
        loop {
            if !self.clause()? {
                parts.push(self.unary()?);
            }
            let said = self.keyword("and").is_some();
            let over = match self.peek().map(|token| &token.is) {
                None | Some(Piece::Close) => true,
                Some(Piece::Word(word)) => word.eq_ignore_ascii_case("or"),
                Some(_) => false,
            };
            if over && !said {
                break;
            }
        }
        Ok(match parts.len() {
            0 | 1 => parts.pop(),
            _ => Some(Filter::All(parts)),
        })
    }

    fn unary(&mut self) -> Parsed<Filter> {
        if self.keyword("not").is_some() {
            return self.nested(|parser| Ok(Filter::Not(Box::new(parser.unary()?))));
        }
        let Some(token) = self.peek().cloned() else {
            return Err(self.unexpected("a comparison or a word", None));
        };
        match token.is {
            Piece::Open => {
                self.next += 1;
                let inside = self.nested(Self::or)?;
                match self.peek().map(|token| &token.is) {
                    Some(Piece::Close) => self.next += 1,
                    Some(_) => return Err(self.unexpected("a comparison or a word", self.peek())),
                    None => return Err(Problem::Unclosed('(').at(token.at)),
                }
                inside.ok_or_else(|| self.unexpected("a comparison or a word", self.peek()))
            }
            Piece::Word(word) => {
                self.next += 1;
                self.word(word, token.at)
            }
            Piece::Quoted(text) if !text.is_empty() => {
                self.next += 1;
                Ok(Filter::Test(Test::Text(vec![text])))
            }
            _ => Err(self.unexpected("a comparison or a word", self.peek())),
        }
    }

    /// A comparison, or a word by itself.
    fn word(&mut self, word: String, at: usize) -> Parsed<Filter> {
        if let Some(QueryToken {
            is: Piece::Op(op),
            at: op_at,
        }) = self.peek().cloned()
        {
            if let "sort" | "limit" = word.as_str() {
                let clause = if word == "sort" { "sort" } else { "limit" };
                return Err(Problem::Inside(clause).at(at));
            }
            self.next += 1;
            let test = Comparison {
                field: &word,
                field_at: at,
                op,
                op_at,
                values: self.values()?,
            }
            .test()?;
            return Ok(match op {
                Op::IsNot => Filter::Not(Box::new(Filter::Test(test))),
                _ => Filter::Test(test),
            });
        }
        if word.starts_with('@') {
            return Err(Problem::LateName(word).at(at));
        }
        if matches!(word.to_ascii_lowercase().as_str(), "and" | "or") {
            self.next -= 1;
            return Err(self.unexpected("a comparison or a word", self.peek()));
        }
        if let Some((field, rest)) = word.split_once(':')
            && let Ok(field) = field.parse::<Field>()
        {
            let (field, rest) = (field.as_str(), rest.to_owned());
            return Err(Problem::Colon { field, rest }.at(at));
        }
        Ok(Filter::Test(Test::Text(vec![word])))
    }

    /// `sort=…` or `limit=…`, where one stands here.
    fn clause(&mut self) -> Parsed<bool> {
        let (Some(QueryToken { at, is }), Some(Piece::Op(op))) = (
            self.peek().cloned(),
            self.tokens.get(self.next + 1).map(|token| &token.is),
        ) else {
            return Ok(false);
        };
        let op = *op;
        let clause = match is {
            Piece::Word(word) if word == "sort" => "sort",
            Piece::Word(word) if word == "limit" => "limit",
            _ => return Ok(false),
        };
        if self.depth > 0 {
            return Err(Problem::Inside(clause).at(at));
        }
        self.next += 2;
        if op != Op::Is {
            return Err(Problem::WrongOperator {
                field: clause.to_owned(),
                operator: op.as_str(),
                allowed: "=",
            }
            .at(at));
        }
        let values = self.values()?;
        if clause == "sort" {
            if !self.query.sort.is_empty() {
                return Err(Problem::Twice(clause).at(at));
            }
            self.query.sort = values.iter().map(sort_key).collect::<Parsed<_>>()?;
        } else {
            if self.query.limit.is_some() {
                return Err(Problem::Twice(clause).at(at));
            }
            self.query.limit = Some(limit(&values)?);
        }
        Ok(true)
    }

    fn values(&mut self) -> Parsed<Vec<Typed>> {
        let mut values = Vec::new();
        loop {
            let Some(token) = self.peek().cloned() else {
                return Err(self.unexpected("a value", None));
            };
            let (text, quoted) = match token.is {
                Piece::Word(text) => (text, false),
                Piece::Quoted(text) => (text, true),
                _ => return Err(self.unexpected("a value", self.peek())),
            };
            self.next += 1;
            values.push(Typed {
                text,
                quoted,
                at: token.at,
            });
            if self.peek().map(|token| &token.is) != Some(&Piece::Comma) {
                return Ok(values);
            }
            self.next += 1;
        }
    }

    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            return Err(Problem::TooDeep.at(self.at()));
        }
        self.depth += 1;
        let parsed = inside(self);
        self.depth -= 1;
        parsed
    }

    fn peek(&self) -> Option<&QueryToken> {
        self.tokens.get(self.next)
    }

    fn at(&self) -> usize {
        self.peek().map_or(self.end, |token| token.at)
    }

    /// Takes this word, if it stands here.
    fn keyword(&mut self, keyword: &'static str) -> Option<&'static str> {
        let stands = match &self.peek()?.is {
            Piece::Word(word) => word.eq_ignore_ascii_case(keyword),
            _ => false,
        };
        stands.then(|| {
            self.next += 1;
            keyword
        })
    }

    fn unexpected(&self, wanted: &'static str, found: Option<&QueryToken>) -> InvalidQuery {
        let at = found.map_or(self.end, |token| token.at);
        let found = found.map_or("the end".to_owned(), |token| token.is.shown());
        Problem::Unexpected { wanted, found }.at(at)
    }
}

fn lonely(or: &str, at: usize) -> InvalidQuery {
    Problem::Unexpected {
        wanted: "something to choose from",
        found: format!("nothing beside {or}"),
    }
    .at(at)
}

/// A key as it is typed: `due`, or `-due` for the other way round.
fn sort_key(typed: &Typed) -> Parsed<SortKey> {
    SortKey::read(&typed.text).ok_or_else(|| {
        let keys: Vec<_> = OrderKey::ALL.iter().map(|key| key.as_str()).collect();
        Problem::WrongValue {
            field: "sort".to_owned(),
            near: nearest(typed.text.trim_start_matches('-'), &keys),
            value: typed.text.clone(),
            allowed: format!(
                "{}, each with a - before it to turn it around",
                keys.join(", ")
            ),
        }
        .at(typed.at)
    })
}

fn limit(values: &[Typed]) -> Parsed<usize> {
    let wrong = |typed: &Typed| {
        Problem::WrongValue {
            field: "limit".to_owned(),
            value: typed.text.clone(),
            near: None,
            allowed: "one number; 0 is all".to_owned(),
        }
        .at(typed.at)
    };
    match values {
        [typed] => {
            let digits = typed.text.bytes().all(|byte| byte.is_ascii_digit());
            let limit = digits.then(|| typed.text.parse().ok()).flatten();
            limit.ok_or_else(|| wrong(typed))
        }
        [_, second, ..] => Err(wrong(second)),
        [] => Ok(0),
    }
}
