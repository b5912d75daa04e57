//! Finds code blocks in Markdown that may contain SQL. It does not parse them.

/// The content of each fenced block that is marked `sql` or not marked; a block that is not closed does not count.
pub(crate) fn sql_blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in text.lines() {
        match (&mut open, fence(line)) {
            (None, Some((mark, length, info))) => {
                let language = info.split_whitespace().next().unwrap_or("");
                let is_sql = language.is_empty() || language.eq_ignore_ascii_case("sql");
                open = Some(Block { mark, length, is_sql, body: Vec::new() });
            }
            (Some(block), Some((mark, length, "")))
                if mark == block.mark && length >= block.length =>
            {
                if block.is_sql {
                    blocks.push(block.body.join("\n"));
                }
                open = None;
            }
            (Some(block), _) => block.body.push(line),
            (None, None) => {}
        }
    }
    blocks
}

struct Block<'t> {
    mark: char,
    length: usize,
    is_sql: bool,
    body: Vec<&'t str>,
}

/// A line of three or more backticks or tildes: the character, how many, and what follows.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let trimmed = line.trim_start_matches([' ', '\t']);
    let mark = trimmed.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
    let info = trimmed.trim_start_matches(mark);
    let length = trimmed.len() - info.len();
    let whole = line.len() - trimmed.len() <= 3 && length >= 3;
    whole.then(|| (mark, length, info.trim()))
}
