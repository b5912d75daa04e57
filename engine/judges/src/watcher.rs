//! A process that ends the programs that answer questions once this one is gone, however it ended: a process that is
//! killed can end nothing. It hears over a pipe which groups run, and that the pipe has ended says the rest. On Unix with
//! a shell; elsewhere, and without one, programs end by themselves.

use std::{
    io::Write as _,
    process::{ChildStdin, Command, Stdio},
};

/// What the shell does: `+ GROUP` begins, `- GROUP` has ended. At the end of its input it kills those that are left.
const WATCHING: &str = r#"
groups=' '
while read -r change group; do
    case $change$groups in
        +*) groups="$groups$group " ;;
        -*" $group "*) groups="${groups%%" $group "*} ${groups#*" $group "}" ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"#;

/// The process, which begins with the first group.
#[derive(Debug)]
pub(crate) enum Watcher {
    NotStarted,
    Watching(ChildStdin),
    /// It cannot be started, or no longer reads.
    Gone,
}

impl Watcher {
    /// From now on a group is to end with this process.
    pub(crate) fn begin(&mut self, group: i32) {
        if matches!(self, Watcher::NotStarted) {
            *self = started().map_or(Watcher::Gone, Watcher::Watching);
        }
        self.tell('+', group);
    }

    /// A group has ended: its number may become another's.
    pub(crate) fn end(&mut self, group: i32) {
        self.tell('-', group);
    }

    fn tell(&mut self, change: char, group: i32) {
        if let Watcher::Watching(pipe) = self
            && writeln!(pipe, "{change} {group}").is_err()
        {
            *self = Watcher::Gone;
        }
    }
}

/// In its own process group, which no signal of a terminal reaches, and in no folder that somebody may want to remove.
#[cfg(unix)]
fn started() -> Option<ChildStdin> {
    use std::os::unix::process::CommandExt as _;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", WATCHING]).env_clear().current_dir("/").process_group(0);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.spawn().ok()?.stdin.take()
}

#[cfg(not(unix))]
fn started() -> Option<ChildStdin> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};

    use super::*;

    #[test]
    fn what_runs_when_the_pipe_ends_is_killed_and_what_had_ended_is_not() {
        let program = || {
            let mut sleeps = Command::new("sleep");
            sleeps.arg("600").process_group(0).spawn().unwrap()
        };
        let mut programs = [program(), program(), program()];
        let groups = programs.each_ref().map(|program| i32::try_from(program.id()).unwrap());
        let mut watcher = Watcher::NotStarted;
        groups.into_iter().for_each(|group| watcher.begin(group));
        watcher.end(groups[1]);
        // As if it had never begun.
        watcher.end(1);
        drop(watcher);
        for killed in [0, 2] {
            assert_eq!(programs[killed].wait().unwrap().signal(), Some(9));
        }
        assert_eq!(programs[1].try_wait().unwrap(), None);
        programs[1].kill().unwrap();
        programs[1].wait().unwrap();
    }
}
