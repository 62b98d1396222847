//! What the core does, for JavaScript's loggers: `tracing` events of this crate, and warnings of
//! the AWS SDK, become records. Without a listener nothing subscribes, and an event costs one load.

use napi::bindgen_prelude::{Function, Result, Status};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use std::fmt;
use std::sync::{Mutex, Once, PoisonError};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Registry, filter::filter_fn};

/// One event.
#[napi(object)]
#[derive(Clone)]
pub struct BindingLogRecord {
    pub message: String,
    /// The session, of events that belong to one.
    pub session: Option<String>,
    /// Names and values, in order.
    pub fields: Vec<Vec<String>>,
}

/// Does not keep Node alive.
type Listener = ThreadsafeFunction<BindingLogRecord, (), BindingLogRecord, Status, false, true>;

/// One per thread of JavaScript that listens.
static LISTENERS: Mutex<Vec<Listener>> = Mutex::new(Vec::new());
static SUBSCRIBED: Once = Once::new();

/// Calls `listener` with every event from now on, for as long as its thread lives.
#[napi(catch_unwind)]
pub fn listen_to_log(listener: Function<'_, BindingLogRecord, ()>) -> Result<()> {
    let listener: Listener = listener
        .build_threadsafe_function::<BindingLogRecord>()
        .weak::<true>()
        .build()?;
    listeners().push(listener);
    SUBSCRIBED.call_once(|| {
        let layer = Records.with_filter(filter_fn(is_heard)).boxed();
        // Only fails where somebody subscribed already, and in this library nobody does.
        let _ = tracing::subscriber::set_global_default(Registry::default().with(layer));
    });
    Ok(())
}

fn is_heard(metadata: &Metadata<'_>) -> bool {
    if metadata.target().starts_with("mastra_agentcore") {
        *metadata.level() <= Level::DEBUG
    } else {
        // What the SDK says below may hold more than a log should.
        *metadata.level() <= Level::WARN
    }
}

fn listeners() -> std::sync::MutexGuard<'static, Vec<Listener>> {
    LISTENERS.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Records;

/// The fields of a span, for the events within.
struct SpanFields(Vec<Vec<String>>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Records {
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::DEBUG)
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(SpanFields(fields.others));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut session = None;
        for span in context.event_scope(event).into_iter().flatten() {
            if let Some(SpanFields(of_span)) = span.extensions().get::<SpanFields>() {
                let found = of_span.iter().find(|pair| pair[0] == "session");
                session = session.or_else(|| found.map(|pair| pair[1].clone()));
            }
        }
        let record = BindingLogRecord {
            message: fields.message,
            session,
            fields: fields.others,
        };
        // A thread that is gone hears nothing any more.
        listeners().retain(|listener| {
            listener.call(record.clone(), ThreadsafeFunctionCallMode::NonBlocking) == Status::Ok
        });
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    others: Vec<Vec<String>>,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.push(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.push(field.name(), format!("{value:?}"));
    }
}

impl Fields {
    fn push(&mut self, name: &str, value: String) {
        if name == "message" {
            self.message = value;
        } else {
            self.others.push(vec![name.to_owned(), value]);
        }
    }
}
