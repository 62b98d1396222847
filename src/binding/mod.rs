//! The only folder that knows Node-API: thin classes and plain data.
//!
//! Expected failures cross as data, never as exceptions; `null` means unset; defaults
//! and validation are JavaScript's. Names start with `Binding` because users see none of
//! them: `js/` wraps each.

#![expect(
    clippy::needless_pass_by_value,
    reason = "Node-API hands arguments over by value"
)]

mod client;
mod command;
mod local;
mod log;
mod text;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The runtime that all commands of the process share. Node's own thread is busy where output
/// is delivered: one core is left to it, and on two cores everything else runs on one thread,
/// without handing work from thread to thread.
#[napi_derive::module_init]
fn start_runtime() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.saturating_sub(1).clamp(1, 8))
        .thread_name("mastra-agentcore")
        .enable_all()
        .build();
    // Without one of ours, napi makes its own.
    if let Ok(runtime) = runtime {
        napi::bindgen_prelude::create_custom_tokio_runtime(runtime);
    }
}
