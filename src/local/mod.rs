//! A local `AgentCore` Runtime: a real HTTP server on 127.0.0.1 that speaks the wire protocol of
//! `InvokeAgentRuntimeCommand` and `StopRuntimeSession`, checks every signature, and runs real
//! processes.
//!
//! **It isolates nothing.** Commands run as the user who started it, with that user's rights and
//! files. What it has instead of a microVM is a directory and a set of processes per session, and
//! it ends both. It exists so that code written against the service can be tested and developed
//! without one.
//!
//! A request passes through the files in this order:
//!
//! | file | what lives there |
//! |---|---|
//! | `handle` | [`LocalRuntime`]: start, inspect, script faults, stop |
//! | `server`, `connection` | [`run`]: accepting, serving and shutting down; one socket |
//! | `http` | routes, and who may talk to a loopback server at all |
//! | `auth`, `sigv4`, `jwt` | is this caller allowed? |
//! | `validation` | is this request well-formed? |
//! | `invoke`, `stop` | the two operations |
//! | `sessions`, `session` | directories, idle and lifetime limits, endings |
//! | `argv`, `process` | command text → words → a process |
//! | `command` | one process from contentStart to contentStop |
//! | `lines`, `events`, `body` | bytes → lines → frames → a response body |
//! | `faults`, `requests` | what tests script, and what they ask afterwards |
//! | `sweep`, `platform` | finding and killing what a session left running |
//!
//! What the service does where its documentation is silent is a choice; each is noted where it is
//! made. One to know: a client that disconnects does not end its command, which runs on until it
//! exits or times out.

mod argv;
mod auth;
mod body;
mod command;
mod connection;
mod error;
mod events;
mod faults;
mod handle;
mod http;
mod invoke;
mod jwt;
mod lines;
mod options;
mod platform;
mod process;
mod requests;
mod server;
mod session;
mod sessions;
mod sigv4;
mod stop;
mod sweep;
mod validation;

pub use faults::{Fault, FaultKind, FaultPoint, Operation, StreamFault};
pub use handle::LocalRuntime;
pub use jwt::JwtAuthorizer;
pub use options::{CommandSemantics, Credentials, Options, TimeoutKills};
pub use requests::{RequestRecord, Requests};
pub use server::run;
pub use session::SessionInfo;
