//! The only folder, beside `local/`, that knows the AWS SDK.
//!
//! - [`config`] makes an SDK client from what the user gave and what AWS users expect;
//! - [`credentials`] are those that the user's own code provides;
//! - [`http`] is the transport: HTTP/1.1, one connection per running command, rustls;
//! - [`identity`] says who a client is, without a secret;
//! - [`invoke`] sends a command and hands over the raw body of its answer;
//! - [`stop`] stops a session;
//! - [`retry`] is our own policy: never a command twice;
//! - [`advice`] names what went wrong and says what to do.

pub mod advice;
pub mod config;
pub mod credentials;
pub mod http;
pub mod identity;
pub mod invoke;
pub mod retry;
pub mod stop;

pub use config::{Client, ClientOptions};
pub use invoke::{CommandExecution, CommandTarget, Trace};
