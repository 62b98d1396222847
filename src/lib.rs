//! The native core of `mastra-agentcore`: runs one command at a time through AWS Bedrock
//! AgentCore Runtime and hands its output to a sink.
//!
//! No logic lives in this file; it is the map of the crate.
//!
//! | module | what lives there | may import |
//! |---|---|---|
//! | [`command`] | request → command text: quoting, script, wrapper, limits (pure) | nothing of ours |
//! | [`stream`] | bytes → frames → events, leniently (pure) | nothing of ours |
//! | [`exec`] | one command from start to outcome: fold, output, delivery, deadline | `stream`, `error` |
//! | [`client`] | the AWS SDK: configuration, credentials, retries, invoke, stop | `error`, `aws_*` |
//! | [`local`] | the local runtime: a real server that runs real processes | `aws_*` |
//! | [`situation`] | every failure known by name, and what to do (pure) | nothing of ours |
//! | `binding` | Node-API classes and DTOs, thin | everything, `napi` |
#![warn(missing_docs)]

// Its exports are only reached from Node, so unit tests do without it.
#[cfg(not(test))]
mod binding;
pub mod client;
pub mod command;
pub mod error;
pub mod exec;
pub mod local;
pub mod situation;
pub mod stream;
