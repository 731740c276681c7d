//! A Ballista cluster of processes: one scheduler and two executors of the published crates on loopback, each this
//! test program started again.

use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ballista_core::object_store::{
    runtime_env_with_s3_support, session_config_with_s3_support, session_state_with_s3_support,
};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use tempfile::TempDir;

/// What a process of the cluster is: `scheduler PORT` or `executor SCHEDULER PORT PORT FOLDER`.
const ROLE: &str = "HEDGEROW_TEST_BALLISTA";
/// How long a cluster may take to come up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A cluster that ends with the test.
pub(super) struct Cluster {
    scheduler: u16,
    processes: Vec<Child>,
    _work: TempDir,
}

impl Cluster {
    /// A scheduler and so many executors.
    pub(super) fn start(executors: usize) -> Self {
        Self::start_with(executors, &[])
    }

    /// The same, whose processes have these variables in their environment.
    pub(super) fn start_with(executors: usize, variables: &[(&str, String)]) -> Self {
        let work = tempfile::tempdir().unwrap();
        let scheduler = free_port();
        let mut cluster = Self {
            scheduler,
            processes: vec![process(&format!("scheduler {scheduler}"), variables)],
            _work: work,
        };
        answers(scheduler);
        for executor in 0..executors {
            let (flight, control) = (free_port(), free_port());
            let folder = cluster._work.path().join(executor.to_string());
            std::fs::create_dir(&folder).unwrap();
            let role = format!(
                "executor {scheduler} {flight} {control} {}",
                folder.display()
            );
            cluster.processes.push(process(&role, variables));
            answers(flight);
        }
        cluster
    }

    /// Where its scheduler is.
    pub(super) fn address(&self) -> String {
        format!("df://127.0.0.1:{}", self.scheduler)
    }

    /// Kills the scheduler.
    pub(super) fn kill_scheduler(&mut self) {
        self.processes[0].kill().unwrap();
        self.processes[0].wait().unwrap();
    }

    /// Kills an executor, as a machine that loses its power.
    pub(super) fn kill(&mut self, executor: usize) {
        self.processes[1 + executor].kill().unwrap();
        self.processes[1 + executor].wait().unwrap();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for process in &mut self.processes {
            // It may be gone already.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Starts this program again, in the role.
fn process(role: &str, variables: &[(&str, String)]) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "count::cluster::is_a_process_of_a_cluster",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(ROLE, role)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Its last words stand in the output of a test that fails.
    let said = BufReader::new(child.stderr.take().unwrap());
    std::thread::spawn(move || said.lines().map_while(Result::ok).for_each(drop));
    child
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Waits until somebody listens at a port.
fn answers(port: u16) {
    let began = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(began.elapsed() < PATIENCE, "nobody listens at {port}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What the processes of a cluster do; alone it does nothing.
#[test]
#[ignore = "a process of a cluster, which other tests start"]
fn is_a_process_of_a_cluster() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let words: Vec<&str> = role.splitn(5, ' ').collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let done = runtime.block_on(async {
        match words[..] {
            ["scheduler", port] => scheduler(port.parse().unwrap()).await,
            ["executor", scheduler, flight, control, folder] => {
                let ports = [scheduler, flight, control].map(|port| port.parse().unwrap());
                executor(ports, folder).await
            }
            _ => panic!("{role}"),
        }
    });
    done.unwrap();
}

async fn scheduler(port: u16) -> ballista_core::error::Result<()> {
    let config = SchedulerConfig {
        bind_port: port,
        external_host: String::from("127.0.0.1"),
        // An executor that was killed is missed soon.
        executor_timeout_seconds: 6,
        expire_dead_executor_interval_seconds: 1,
        no_executors_grace_period_seconds: 10,
        ..SchedulerConfig::default()
    };
    // As the published program does.
    let config = config
        .with_override_config_producer(Arc::new(session_config_with_s3_support))
        .with_override_session_builder(Arc::new(session_state_with_s3_support));
    let cluster = BallistaCluster::new_from_config(&config).await?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    start_server(cluster, address, Arc::new(config)).await
}

async fn executor(
    [scheduler, flight, control]: [u16; 3],
    folder: &str,
) -> ballista_core::error::Result<()> {
    let config = ExecutorProcessConfig {
        port: flight,
        grpc_port: control,
        scheduler_host: String::from("127.0.0.1"),
        scheduler_port: scheduler,
        external_host: Some(String::from("127.0.0.1")),
        vcores: 2,
        work_dir: Some(folder.to_owned()),
        executor_heartbeat_interval_seconds: 2,
        memory_pool_size: Some(256 << 20),
        override_config_producer: Some(Arc::new(session_config_with_s3_support)),
        override_runtime_producer: Some(Arc::new(runtime_env_with_s3_support)),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config)).await
}
