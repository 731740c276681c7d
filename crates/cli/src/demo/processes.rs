//! The processes of a demo, which end with it, and what is shown of them.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use hedgerow::{Standing, State};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::hospitals::{Hospital, unwritable};
use crate::error::{CliError, DemoError};
use crate::output::{is_quiet, remark};

/// A process that was asked to end may take this long.
const END: Duration = Duration::from_secs(10);

/// A process that ends when its stdin ends, at the latest when this value is dropped.
pub(super) struct Child {
    name: String,
    log: PathBuf,
    process: std::process::Child,
    stdin: Option<ChildStdin>,
}

impl Child {
    /// Starts a hospital's node: this same program.
    pub(super) fn node(hospital: &Hospital) -> Result<Self, CliError> {
        let program = std::env::current_exe().map_err(DemoError::NoProgram)?;
        let mut command = Command::new(program);
        command
            .args(["node", "--until-stdin-ends", "--site"])
            .arg(hospital.site_file());
        Self::start(&hospital.name, command, &hospital.folder.join("node.log"))
    }

    /// Starts a process whose output goes to a file.
    pub(super) fn start(name: &str, mut command: Command, log: &Path) -> Result<Self, CliError> {
        let file = std::fs::File::create(log).map_err(|error| unwritable(log, &error))?;
        let again = file.try_clone().map_err(|error| unwritable(log, &error))?;
        // A Ctrl-C at the terminal is for this process, which then ends the others.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let started = command
            .stdin(Stdio::piped())
            .stdout(file)
            .stderr(again)
            .spawn();
        let mut process = started.map_err(|error| DemoError::NotStarted {
            name: name.to_owned(),
            error,
        })?;
        Ok(Self {
            name: name.to_owned(),
            log: log.to_owned(),
            stdin: process.stdin.take(),
            process,
        })
    }

    /// Sees that the process has not ended.
    pub(super) fn see_alive(&mut self) -> Result<(), CliError> {
        if let Ok(None) = self.process.try_wait() {
            return Ok(());
        }
        let said = std::fs::read_to_string(&self.log).unwrap_or_default();
        Err(CliError::Demo(DemoError::EndedEarly {
            name: self.name.clone(),
            said: said.trim_end().to_owned(),
        }))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let asked = Instant::now();
        while matches!(self.process.try_wait(), Ok(None)) {
            if asked.elapsed() > END {
                let _ = self.process.kill();
                let _ = self.process.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// One line for each hospital; where there is no terminal, a line for each change that matters.
pub(super) struct Lines {
    names: Vec<String>,
    bars: Vec<ProgressBar>,
    said: Vec<Option<(State, bool)>>,
    is_terminal: bool,
}

impl Lines {
    pub(super) fn new(hospitals: &[Hospital]) -> Self {
        let all = MultiProgress::new();
        if is_quiet() {
            all.set_draw_target(ProgressDrawTarget::hidden());
        }
        let bar = |hospital: &Hospital| {
            let bar = all.add(ProgressBar::new_spinner());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix:8} {msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(hospital.name.clone());
            bar
        };
        Self {
            names: hospitals.iter().map(|one| one.name.clone()).collect(),
            bars: hospitals.iter().map(bar).collect(),
            said: vec![None; hospitals.len()],
            is_terminal: std::io::stderr().is_terminal(),
        }
    }

    pub(super) fn show(&mut self, place: usize, standing: &Standing) {
        self.bars[place].set_message(standing.words());
        self.bars[place].tick();
        let present = (standing.state, standing.waiting_for.is_empty());
        if !self.is_terminal && self.said[place] != Some(present) {
            remark(&format!("{}: {}", self.names[place], standing.words()));
            self.said[place] = Some(present);
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.bars.iter().for_each(ProgressBar::finish_and_clear);
    }
}
