//! From text to a tree: a recursive descent over one line, with the usual precedence.
//!
//! Our own parser: the values are columns of printed numbers, checked against the tables before anything is
//! computed.

use super::functions::{self, FUNCTIONS};
use super::{Expression, ExpressionError, Kind, Node, Operator};

/// Maximum nesting, more than any finding needs; it keeps the recursion from overflowing the stack.
const DEEPEST: usize = 64;

impl Expression {
    /// Reads an expression.
    pub fn read(text: &str) -> Result<Self, ExpressionError> {
        let characters: Vec<char> = text.chars().collect();
        let mut reader = Reader { characters: &characters, at: 0, depth: 0 };
        let root = reader.comparison()?;
        reader.skip_spaces();
        if let Some(found) = reader.peek() {
            return Err(reader.error(format!(
                "nothing more was expected here and there is `{found}`; an operator may be missing"
            )));
        }
        Ok(Self { text: text.trim().to_owned(), root })
    }
}

struct Reader<'a> {
    characters: &'a [char],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn error(&self, what: impl Into<String>) -> ExpressionError {
        ExpressionError::new(self.at + 1, what)
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// Takes the first of `signs` that matches here.
    fn take_sign<T: Copy>(&mut self, signs: &[(&str, T)]) -> Option<T> {
        self.skip_spaces();
        let rest = &self.characters[self.at..];
        let starts = |sign: &str| {
            rest.len() >= sign.len()
                && sign.chars().zip(rest).all(|(wanted, found)| wanted == *found)
        };
        let (sign, operator) = signs.iter().find(|(sign, _)| starts(sign))?;
        self.at += sign.len();
        Some(*operator)
    }

    fn comparison(&mut self) -> Result<Node, ExpressionError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("too many parentheses inside one another; write it flatter"));
        }
        let left = self.sum()?;
        let column = self.at + 1;
        let signs = [
            ("<=", Operator::AtMost),
            (">=", Operator::AtLeast),
            ("==", Operator::Equal),
            ("!=", Operator::Differs),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        let node = match self.take_sign(&signs) {
            Some(operator) => binary(column, operator, left, self.sum()?),
            None => left,
        };
        self.depth -= 1;
        Ok(node)
    }

    fn sum(&mut self) -> Result<Node, ExpressionError> {
        let mut left = self.product()?;
        loop {
            let column = self.at + 1;
            match self.take_sign(&[("+", Operator::Add), ("-", Operator::Subtract)]) {
                Some(operator) => left = binary(column, operator, left, self.product()?),
                None => return Ok(left),
            }
        }
    }

    fn product(&mut self) -> Result<Node, ExpressionError> {
        let mut left = self.signed()?;
        loop {
            let column = self.at + 1;
            match self.take_sign(&[("*", Operator::Multiply), ("/", Operator::Divide)]) {
                Some(operator) => left = binary(column, operator, left, self.signed()?),
                None => return Ok(left),
            }
        }
    }

    /// A sign binds less tightly than a power: −2² is −4.
    fn signed(&mut self) -> Result<Node, ExpressionError> {
        self.skip_spaces();
        let column = self.at + 1;
        if self.take_sign(&[("-", ())]).is_none() {
            return self.power();
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("too many signs in a row; one is enough"));
        }
        let inner = self.signed()?;
        self.depth -= 1;
        Ok(Node { column, kind: Kind::Negative(Box::new(inner)) })
    }

    fn power(&mut self) -> Result<Node, ExpressionError> {
        let base = self.atom()?;
        let column = self.at + 1;
        match self.take_sign(&[("^", Operator::Power)]) {
            Some(operator) => Ok(binary(column, operator, base, self.signed()?)),
            None => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<Node, ExpressionError> {
        self.skip_spaces();
        let column = self.at + 1;
        match self.peek() {
            None => Err(self.error("the expression ends where a number, a path or a function should be")),
            Some('(') => {
                self.at += 1;
                let inner = self.comparison()?;
                self.close()?;
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() => self.number(column),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.path_or_call(column),
            Some(c) => Err(self.error(format!(
                "`{c}` cannot start a value; a number, a path such as `T01.local` or a function such as \
                 `mean(…)` is expected"
            ))),
        }
    }

    fn number(&mut self, column: usize) -> Result<Node, ExpressionError> {
        let text = self.take_while(|c| c.is_ascii_digit() || c == '.');
        match text.parse() {
            Ok(value) => Ok(Node { column, kind: Kind::Number(value) }),
            Err(_) => Err(ExpressionError::new(column, format!("`{text}` is not a number"))),
        }
    }

    fn path_or_call(&mut self, column: usize) -> Result<Node, ExpressionError> {
        let text = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        self.skip_spaces();
        if self.peek() == Some('(') {
            self.at += 1;
            return self.call(column, &text);
        }
        let steps: Vec<String> = text.split('.').map(str::to_owned).collect();
        if steps.iter().any(String::is_empty) || !(2..=3).contains(&steps.len()) {
            return Err(ExpressionError::new(
                column,
                format!(
                    "`{text}` is not a path; write table.column for a column or table.row.column for one \
                     number{}",
                    functions::hint(&text)
                ),
            ));
        }
        Ok(Node { column, kind: Kind::Path(steps) })
    }

    fn call(&mut self, column: usize, name: &str) -> Result<Node, ExpressionError> {
        let Some(function) = FUNCTIONS.iter().find(|function| function.name == name) else {
            let near = functions::hint(name);
            let known =
                FUNCTIONS.iter().map(|function| function.name).collect::<Vec<_>>().join(", ");
            let help = if near.is_empty() { format!("; there are {known}") } else { near };
            return Err(ExpressionError::new(
                column,
                format!("there is no function `{name}`{help}"),
            ));
        };
        let mut arguments = Vec::new();
        if self.take_sign(&[(")", ())]).is_none() {
            loop {
                arguments.push(self.comparison()?);
                if self.take_sign(&[(",", ())]).is_none() {
                    break;
                }
            }
            self.close()?;
        }
        if !function.takes(arguments.len()) {
            return Err(ExpressionError::new(
                column,
                format!(
                    "{name} has {} argument(s) and is written {}",
                    arguments.len(),
                    function.usage
                ),
            ));
        }
        Ok(Node { column, kind: Kind::Call(function, arguments) })
    }

    fn close(&mut self) -> Result<(), ExpressionError> {
        match self.take_sign(&[(")", ())]) {
            Some(()) => Ok(()),
            None => Err(self.error("a `)` is missing here")),
        }
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let start = self.at;
        while self.peek().is_some_and(&belongs) {
            self.at += 1;
        }
        self.characters[start..self.at].iter().collect()
    }
}

fn binary(column: usize, operator: Operator, left: Node, right: Node) -> Node {
    Node { column, kind: Kind::Binary(operator, Box::new(left), Box::new(right)) }
}
