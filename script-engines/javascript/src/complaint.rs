//! Describes what is wrong with a script: its exceptions, with file, line and column in the author's source. How a
//! thrown value that is not an Error is described is up to `thrown`.

use rquickjs::{
    CaughtError, Coerced, Ctx, Error, Exception, Object, String as JsString, Value,
    atom::PredefinedAtom,
};

use crate::{
    contract::log::{self, Level},
    files::Files,
    memory,
    place::Place,
    text, thrown,
};

/// Characters of a line of a file that are shown.
const LINE_CHARACTERS: usize = 200;
/// Characters of what an exception says that are shown.
const MESSAGE_CHARACTERS: usize = 4000;
/// The globals of Node.js's CommonJS modules, which a script does not have.
const COMMON_JS: [&str; 3] = ["module", "exports", "require"];
/// The property of this component's own exceptions that has their place.
const PLACE: &str = "scorebox place";

/// One thing that is wrong.
pub(crate) struct Complaint {
    text: String,
    place: Option<Place>,
    /// Whether the script blames the case.
    about_the_case: bool,
}

impl Complaint {
    pub(crate) fn new(text: String, place: Option<Place>) -> Complaint {
        Complaint { text, place, about_the_case: false }
    }

    /// Describes an error of the interpreter; `files` are those whose places are worth naming.
    pub(crate) fn of(error: CaughtError<'_>, files: Option<&Files>) -> Complaint {
        let is_out_of_memory = memory::ran_out(&error);
        let complaint = Complaint::of_any(error, files);
        match is_out_of_memory {
            true => Complaint::new("out of memory".to_owned(), complaint.place).stop(),
            false => complaint,
        }
    }

    fn of_any(error: CaughtError<'_>, files: Option<&Files>) -> Complaint {
        match error {
            CaughtError::Exception(exception) => Complaint::of_exception(&exception, files),
            CaughtError::Value(value) => {
                let throws = |files: &Files, stack: &str| {
                    files.first_place(stack).and_then(|place| files.throws(place, &value))
                };
                let place = files.and_then(|files| {
                    thrown::stacks(&value).iter().find_map(|stack| throws(files, stack))
                });
                Complaint::new(thrown::in_words(&value), place)
            }
            CaughtError::Error(Error::WouldBlock) => Complaint::new(
                "the script waits for a promise that nothing settles; there are no timers"
                    .to_owned(),
                None,
            ),
            CaughtError::Error(error) => Complaint::new(error.to_string(), None),
        }
    }

    fn of_exception(exception: &Exception<'_>, files: Option<&Files>) -> Complaint {
        let name: String = exception.get("name").unwrap_or_else(|_| "Error".to_owned());
        let message = message(exception);
        let about_the_case = name == "InvalidInput";
        let text = match name.as_str() {
            "Error" | "InvalidInput" if !message.is_empty() => message,
            _ if message.is_empty() => name,
            _ => format!("{name}: {message}"),
        };
        let text = match COMMON_JS
            .iter()
            .any(|it| text == format!("ReferenceError: {it} is not defined"))
        {
            true => format!("{text}; a script is an ES module, with `import` and `export default`"),
            false => text,
        };
        let place = place_of(exception).or_else(|| {
            let (files, stack) = (files?, exception.stack().unwrap_or_default());
            files.first_place(&stack).or_else(|| files.place_of_missing_export(&text))
        });
        Complaint { text, place, about_the_case }
    }

    /// Ends the component with this message as its last: scorebox knows better whether a limit was the cause, and which
    /// one.
    pub(crate) fn stop(self) -> ! {
        self.in_a_score().chars().for_each(log::letter);
        log::end(Level::Error);
        #[cfg(target_arch = "wasm32")]
        core::arch::wasm32::unreachable();
        #[cfg(not(target_arch = "wasm32"))]
        std::process::abort()
    }

    /// Whether the script blames the case.
    pub(crate) fn is_about_the_case(&self) -> bool {
        self.about_the_case
    }

    /// What is wrong, without its place.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// The message for a score.
    pub(crate) fn in_a_score(self) -> String {
        match self.place {
            Some(Place { file, line, column }) => format!("{file}:{line}:{column}: {}", self.text),
            None => self.text,
        }
    }

    /// The message for an error in the script itself, with the line.
    pub(crate) fn before_the_run(self, files: &Files) -> String {
        let line = self.place.as_ref().and_then(|place| {
            let line = files.line(place)?;
            let shown: String = line.chars().take(LINE_CHARACTERS).collect();
            let shown = shown.replace('\t', " ");
            Some(match place.column.checked_sub(1) {
                Some(before) if before <= shown.chars().count() => {
                    format!("\n  {shown}\n  {}^", " ".repeat(before))
                }
                _ => format!("\n  {shown}"),
            })
        });
        let text = match self.place {
            Some(_) => self.in_a_score(),
            None => format!("{}: {}", files.main(), self.text),
        };
        format!("{text}{}", line.unwrap_or_default())
    }
}

impl Files {
    /// The first place in one of the files that a stack names: `    at name (FILE:LINE:COLUMN)`.
    fn first_place(&self, stack: &str) -> Option<Place> {
        stack.lines().find_map(|frame| {
            let frame = frame.trim().trim_end_matches(')');
            let named = frame
                .rsplit_once('(')
                .map_or_else(|| frame.strip_prefix("at ").unwrap_or(frame), |(_, named)| named);
            let mut parts = named.rsplitn(3, ':');
            let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
            self.text(file)?;
            let (line, column) = (line.parse().ok()?, column.parse().ok()?);
            Some(self.in_characters(Place { file: file.to_owned(), line, column }))
        })
    }

    /// The place with its column in characters; the interpreter counts bytes.
    fn in_characters(&self, place: Place) -> Place {
        let before = |line: &str| {
            let bytes = line.as_bytes().get(..place.column.checked_sub(1)?)?;
            Some(String::from_utf8_lossy(bytes).chars().count())
        };
        let column = self.line(&place).and_then(before).map_or(place.column, |before| before + 1);
        Place { column, ..place }
    }
}

impl Files {
    /// The place, if it is a `throw` of `value`: the source there throws something, and not another text. The
    /// interpreter may remember the stack of an error that was never thrown, or of a rejection that was handled.
    fn throws(&self, place: Place, value: &Value<'_>) -> Option<Place> {
        let line = self.line(&place)?;
        let (at, _) = line.char_indices().nth(place.column.checked_sub(1)?)?;
        let (before, behind) = line.split_at(at);
        let thrown = behind.trim_start();
        let blanks = behind.chars().count() - thrown.chars().count();
        let literal = thrown.strip_prefix(['"', '\'']);
        let written = literal.and_then(|literal| literal.split(['"', '\'', '\\']).next());
        let text = value.as_string().and_then(|text| text::of(text.clone()).ok());
        let is_another = written.is_some_and(|it| text.is_none_or(|text| !text.starts_with(it)));
        let is_thrown = before.trim_end().ends_with("throw") && !is_another;
        is_thrown.then(|| Place { column: place.column + blanks, ..place })
    }

    /// The place that imports a missing export. The interpreter states no place for it: `Could not find export 'NAME'
    /// in module 'FILE'`.
    fn place_of_missing_export(&self, text: &str) -> Option<Place> {
        let mut quoted = text.strip_prefix("SyntaxError: ")?.split('\'').skip(1).step_by(2);
        let (name, file) = (quoted.next()?, quoted.next()?);
        self.place_of_imported(name, file)
    }
}

/// Throws an error that has its place as a property.
pub(crate) fn throw_at(ctx: &Ctx<'_>, message: &str, place: Option<Place>) -> Error {
    let thrown = Exception::from_message(ctx.clone(), message).and_then(|exception| {
        if let Some(place) = place {
            let said = Object::new(ctx.clone())?;
            said.set("file", place.file)?;
            said.set("line", place.line as f64)?;
            said.set("column", place.column as f64)?;
            exception.set(PLACE, said)?;
        }
        Ok(exception.throw())
    });
    let (Ok(error) | Err(error)) = thrown;
    error
}

fn place_of(exception: &Exception<'_>) -> Option<Place> {
    let said: Option<Object<'_>> = exception.get(PLACE).ok()?;
    let said = said?;
    let number = |key| said.get::<_, f64>(key).ok().map(|number| number as usize);
    Some(Place { file: said.get("file").ok()?, line: number("line")?, column: number("column")? })
}

/// What an exception says.
fn message(exception: &Exception<'_>) -> String {
    let said = exception.get::<_, Option<Coerced<JsString<'_>>>>(PredefinedAtom::Message);
    let mut said = said.ok().flatten().and_then(|said| text::of(said.0).ok()).unwrap_or_default();
    if let Some((end, _)) = said.char_indices().nth(MESSAGE_CHARACTERS) {
        said.truncate(end);
        said.push('…');
    }
    said
}
