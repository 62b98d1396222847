//! A command whose task panics, wherever that is: its caller gets an end, the output until then
//! and no wait; a panic behind the end changes nothing.

use bytes::Bytes;
use mastra_agentcore::error::Failure;
use mastra_agentcore::exec::output::MAX_STRING;
use mastra_agentcore::exec::{
    End, Execution, Outcome, Output, OutputOptions, Piece, Source, Stream, run,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Breaks {
    Opening,
    Reading,
    Killing,
}

struct Broken(Breaks);

impl Execution for Broken {
    type Source = Self;

    async fn open(&mut self) -> Result<Self, Failure> {
        assert!(self.0 != Breaks::Opening, "a panic on purpose");
        Ok(Self(self.0))
    }

    async fn kill(self, _: bool) {
        assert!(self.0 != Breaks::Killing, "a panic on purpose");
    }
}

impl Source for Broken {
    async fn next(&mut self) -> Option<Result<Bytes, Failure>> {
        assert!(self.0 != Breaks::Reading, "a panic on purpose");
        std::future::pending().await
    }
}

fn started(breaks: Breaks) -> (Arc<Output>, JoinHandle<()>) {
    let options = OutputOptions {
        max_retained_bytes: None,
        listened: [true; 2],
        max_string: MAX_STRING,
    };
    let output = Arc::new(Output::new(options, || true));
    output.push(Stream::Stdout, "until then\n");
    let task = tokio::spawn(run(Broken(breaks), Arc::clone(&output), SOON));
    (output, task)
}

#[tokio::test]
async fn a_panic_is_a_failure_with_the_output_until_then() {
    for breaks in [Breaks::Opening, Breaks::Reading] {
        let (output, task) = started(breaks);
        timeout(SOON, output.ended()).await.expect("an end");
        assert!(task.await.expect_err("the task").is_panic());
        assert_eq!(
            output.read(|_, text| text.to_owned()),
            Piece::Text("until then\n".to_owned())
        );
        assert_eq!(output.read(|_, _| ()), Piece::Ended);
        let Outcome::Failed(failure) = output.seal().expect("a sealed output").outcome else {
            panic!("{breaks:?} is no failure");
        };
        assert_eq!(failure.code, "INTERNAL");
        assert!(failure.may_have_run && !failure.retryable);
        assert!(failure.message.contains("is a bug"), "{failure}");
        assert!(!failure.message.contains("on purpose"), "{failure}");
    }
}

#[tokio::test]
async fn a_panic_of_the_kill_takes_no_end_back() {
    let (output, task) = started(Breaks::Killing);
    tokio::task::yield_now().await;
    output.end(End::Aborted);
    assert!(task.await.expect_err("the task").is_panic());
    let sealed = output.seal().expect("a sealed output");
    assert_eq!(sealed.outcome, Outcome::Aborted);
}

#[tokio::test]
async fn a_task_that_is_dropped_unrun_is_a_failure() {
    let options = OutputOptions {
        max_retained_bytes: None,
        listened: [false; 2],
        max_string: MAX_STRING,
    };
    let output = Arc::new(Output::new(options, || true));
    drop(run(Broken(Breaks::Reading), Arc::clone(&output), SOON));
    let sealed = output.seal().expect("a sealed output");
    assert!(matches!(sealed.outcome, Outcome::Failed(failure) if failure.code == "INTERNAL"));
}
