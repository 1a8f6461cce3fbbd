//! A Kubernetes control plane for tests.

use std::io::{BufRead, BufReader, Error, Read, Result};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A running control plane; dropping it ends it and removes its files.
pub struct Server {
    /// Where it serves.
    pub url: String,
    /// The kubeconfig of an administrator.
    pub kubeconfig: PathBuf,
    process: Process,
}

struct Process {
    child: Child,
    folder: PathBuf,
}

static COUNT: AtomicU32 = AtomicU32::new(0);

impl Server {
    /// Returns when a Pod can be created. Flags are those of `coxswain up`.
    pub fn start(flags: &[&str]) -> Result<Server> {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("coxswain-{}-{number}", std::process::id()));
        std::fs::create_dir(&folder)?;
        let program = std::env::var("COXSWAIN").unwrap_or_else(|_| "coxswain".into());
        let child = Command::new(program)
            .args(["up", "--port=0", "--storage=memory"])
            .arg(format!("--data-dir={}", folder.join("data").display()))
            .args(flags)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut process = match child {
            Ok(child) => Process { child, folder },
            Err(error) => {
                std::fs::remove_dir(&folder)?;
                return Err(error);
            }
        };
        let mut line = String::new();
        BufReader::new(process.child.stdout.as_mut().unwrap()).read_line(&mut line)?;
        let ready = line.split_once("ready at ").and_then(|(_, rest)| rest.split_once(", run: export KUBECONFIG="));
        let Some((url, kubeconfig)) = ready else {
            process.child.stderr.as_mut().unwrap().read_to_string(&mut line)?;
            return Err(Error::other(format!("coxswain did not start: {line}")));
        };
        let (url, kubeconfig) = (url.to_string(), PathBuf::from(kubeconfig.trim_end()));
        // What it logs from here on is not read.
        process.child.stderr = None;
        Ok(Server { url, kubeconfig, process })
    }

    /// The number of the process.
    pub fn pid(&self) -> u32 {
        self.process.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Of its own accord, so that it stops cleanly; std has only the signal that does not let it.
        let _ = Command::new("kill").arg(self.child.id().to_string()).stderr(Stdio::null()).status();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
