//! A query's text as tokens.
//!
//! Owns which characters mean something. Quotation marks open only where a word could begin, so
//! that `don't` is a word; a backslash in quotes takes the next character as it is.

use super::mistake::{InvalidQuery, Problem};
use crate::names::names;

names!(
    /// How a field is compared.
    Op {
        /// One of these.
        Is = "=",
        /// None of these.
        IsNot = "!=",
        /// At most that.
        AtMost = "<=",
        /// Less than that.
        Below = "<",
        /// At least that.
        AtLeast = ">=",
        /// More than that.
        Above = ">",
        /// With that in it.
        Has = "~",
    }
);

/// The smallest part of a query, and which character it begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryToken {
    pub at: usize,
    pub is: Piece,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Word(String),
    Quoted(String),
    Op(Op),
    Comma,
    Open,
    Close,
}

impl Piece {
    /// The token for a person.
    pub fn shown(&self) -> String {
        match self {
            Self::Word(text) | Self::Quoted(text) => format!("{text:?}"),
            Self::Op(op) => op.to_string(),
            Self::Comma => "a comma".to_owned(),
            Self::Open => "(".to_owned(),
            Self::Close => ")".to_owned(),
        }
    }
}

/// Whether a character can be part of a word wherever it stands.
pub(super) fn is_plain(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '(' | ')' | ',' | '=' | '<' | '>' | '~')
}

/// The text's tokens, in order.
pub(super) fn tokens(text: &str) -> Result<Vec<QueryToken>, InvalidQuery> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if c.is_whitespace() {
            at += 1;
            continue;
        }
        let begin = at;
        let is = match c {
            '(' => single(&mut at, Piece::Open),
            ')' => single(&mut at, Piece::Close),
            ',' => single(&mut at, Piece::Comma),
            '"' | '\'' => quoted(&chars, &mut at, c)?,
            _ => match operator(&chars, &mut at) {
                Some(op) => Piece::Op(op),
                None => word(&chars, &mut at),
            },
        };
        tokens.push(QueryToken { at: begin, is });
    }
    Ok(tokens)
}

fn single(at: &mut usize, piece: Piece) -> Piece {
    *at += 1;
    piece
}

fn operator(chars: &[char], at: &mut usize) -> Option<Op> {
    let two = chars.get(*at + 1) == Some(&'=');
    let (op, len) = match (chars[*at], two) {
        ('=', true) => (Op::Is, 2),
        ('=', false) => (Op::Is, 1),
        ('!', true) => (Op::IsNot, 2),
        ('<', true) => (Op::AtMost, 2),
        ('<', false) => (Op::Below, 1),
        ('>', true) => (Op::AtLeast, 2),
        ('>', false) => (Op::Above, 1),
        ('~', _) => (Op::Has, 1),
        _ => return None,
    };
    *at += len;
    Some(op)
}

fn word(chars: &[char], at: &mut usize) -> Piece {
    let begin = *at;
    while let Some(&c) = chars.get(*at)
        && is_plain(c)
        && !(c == '!' && chars.get(*at + 1) == Some(&'='))
    {
        *at += 1;
    }
    Piece::Word(chars[begin..*at].iter().collect())
}

fn quoted(chars: &[char], at: &mut usize, mark: char) -> Result<Piece, InvalidQuery> {
    let begin = *at;
    let mut text = String::new();
    loop {
        *at += 1;
        match chars.get(*at) {
            None => return Err(Problem::Unclosed(mark).at(begin)),
            Some('\\') => {
                *at += 1;
                text.extend(chars.get(*at));
            }
            Some(c) if *c == mark => {
                *at += 1;
                return Ok(Piece::Quoted(text));
            }
            Some(c) => text.push(*c),
        }
    }
}
