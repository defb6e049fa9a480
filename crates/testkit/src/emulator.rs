//! What a terminal shows: just enough of one to see where lines wrap, what is scrolled away and what a
//! resize leaves behind. Lines that were wrapped are joined and broken again when it is resized, as
//! nearly all terminal emulators do.

/// A terminal of unlimited height, so that everything that was ever scrolled away is still seen.
pub struct Emulator {
    width: usize,
    rows: Vec<Row>,
    row: usize,
    column: usize,
    /// How often a line was too long.
    pub wraps: usize,
    /// The escape sequence under way.
    escape: Option<String>,
}

#[derive(Default, Clone)]
struct Row {
    cells: Vec<char>,
    /// Whether the next row continues with the same line.
    wrapped: bool,
}

impl Emulator {
    /// An empty one of that many columns.
    pub fn new(width: usize) -> Self {
        let rows = vec![Row::default()];
        Self { width, rows, row: 0, column: 0, wraps: 0, escape: None }
    }

    /// What is on it, without the empty rows at the end.
    pub fn rows(&self) -> Vec<String> {
        let text = |row: &Row| row.cells.iter().collect::<String>().trim_end().to_string();
        let mut rows: Vec<String> = self.rows.iter().map(text).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    /// Writes to it, escape sequences included.
    pub fn feed(&mut self, text: &str) {
        for character in text.chars() {
            if let Some(escape) = &mut self.escape {
                escape.push(character);
                if character.is_ascii_alphabetic() {
                    let escape = self.escape.take().unwrap_or_default();
                    self.obey(&escape);
                }
                continue;
            }
            match character {
                '\x1b' => self.escape = Some(String::new()),
                '\r' => self.column = 0,
                '\n' => {
                    self.column = 0;
                    self.down();
                }
                other => self.put(other),
            }
        }
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push(Row::default());
        }
    }

    fn put(&mut self, character: char) {
        if self.column == self.width {
            self.wraps += 1;
            self.rows[self.row].wrapped = true;
            self.column = 0;
            self.down();
        }
        let row = &mut self.rows[self.row];
        if row.cells.len() <= self.column {
            row.cells.resize(self.column + 1, ' ');
        }
        row.cells[self.column] = character;
        self.column += 1;
    }

    /// CUU, ED 0, EL 2 and SGR of ECMA-48.
    fn obey(&mut self, escape: &str) {
        let number = escape.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0);
        match escape.chars().last() {
            Some('A') => self.row = self.row.saturating_sub(std::cmp::max(number, 1)),
            Some('J') => {
                self.rows.truncate(self.row + 1);
                self.rows[self.row].cells.truncate(self.column);
                self.rows[self.row].wrapped = false;
            }
            Some('K') => {
                self.rows[self.row].cells.clear();
                self.rows[self.row].wrapped = false;
            }
            _ => {}
        }
    }

    /// Another width; the cursor stays with the text that it is at.
    pub fn resize(&mut self, width: usize) {
        let mut lines: Vec<Vec<char>> = vec![Vec::new()];
        let mut cursor = (0, 0);
        for (number, row) in self.rows.iter().enumerate() {
            let line = lines.len() - 1;
            if number == self.row {
                cursor = (line, lines[line].len() + self.column);
            }
            lines[line].extend(&row.cells);
            if !row.wrapped {
                lines.push(Vec::new());
            }
        }
        lines.pop();
        self.width = width;
        self.rows.clear();
        for (number, line) in lines.iter().enumerate() {
            if number == cursor.0 {
                self.row = self.rows.len() + cursor.1 / width;
                self.column = cursor.1 % width;
            }
            let mut pieces: Vec<Row> = line
                .chunks(width)
                .map(|cells| Row { cells: cells.to_vec(), wrapped: true })
                .collect();
            match pieces.last_mut() {
                Some(last) => last.wrapped = false,
                None => pieces.push(Row::default()),
            }
            self.rows.append(&mut pieces);
        }
    }
}
