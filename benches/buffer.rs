//! The output between the network and its reader, against the plainest thing that could
//! hold the same: what order, delivery and a limit cost per line, and that it does not
//! depend on how much came before.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mastra_agentcore::exec::output::MAX_STRING;
use mastra_agentcore::exec::{End, Output, OutputOptions, Piece, Stream};
use std::collections::VecDeque;
use std::hint::black_box;

const MIB: usize = 1024 * 1024;
/// Lines pushed between two reads: about what one read of the network carries.
const BATCH: usize = 1000;

/// Pushes `count` lines as the fold does, reading after each batch where `listened`, and
/// takes what was retained.
fn output(line: &str, count: usize, retained: Option<usize>, listened: bool) -> usize {
    let output = Output::new(
        OutputOptions {
            max_retained_bytes: retained.map(|bytes| bytes as u64),
            listened: [listened; 2],
            max_string: MAX_STRING,
        },
        || true,
    );
    let mut seen = 0;
    for first in (0..count).step_by(BATCH) {
        let mut writer = output.writer();
        for _ in first..count.min(first + BATCH) {
            writer.push(Stream::Stdout, line);
        }
        drop(writer);
        while let Piece::Text(length) = output.read(|_, text| text.len()) {
            seen += length;
        }
    }
    output.end(End::Aborted);
    output.seal();
    while let Some(block) = output.take_retained(Stream::Stdout) {
        seen += block.len();
    }
    seen
}

/// All of it in one string.
fn string(line: &str, count: usize) -> usize {
    let mut all = String::new();
    for _ in 0..count {
        all.push_str(black_box(line));
    }
    all.len()
}

/// The newest bytes in a ring.
fn ring(line: &str, count: usize, retained: usize) -> usize {
    let mut ring: VecDeque<u8> = VecDeque::with_capacity(retained + line.len());
    for _ in 0..count {
        let surplus = (ring.len() + line.len()).saturating_sub(retained);
        ring.drain(..surplus);
        ring.extend(black_box(line).as_bytes());
    }
    ring.len()
}

fn shapes(criterion: &mut Criterion) {
    for (name, count, size) in [
        ("100k lines of 80 B", 100_000, 80),
        ("20k blocks of 4 KB", 20_000, 4096),
    ] {
        let line = format!("{}\n", "x".repeat(size - 1));
        let mut group = criterion.benchmark_group(format!("output of {name}"));
        group
            .sample_size(10)
            .throughput(Throughput::Elements(count as u64));
        let mut case = |id: &str, run: &dyn Fn() -> usize| {
            group.bench_function(id, |bencher| bencher.iter(|| black_box(run())));
        };
        case("a string", &|| string(&line, count));
        case("retained", &|| output(&line, count, None, false));
        case("retained and delivered", &|| {
            output(&line, count, None, true)
        });
        case("a ring of 1 MiB", &|| ring(&line, count, MIB));
        case("1 MiB retained", &|| output(&line, count, Some(MIB), false));
        case("1 MiB retained, all delivered", &|| {
            output(&line, count, Some(MIB), true)
        });
        group.finish();
    }
}

/// The throughput, lines a second, must be the same in each row.
fn growth(criterion: &mut Criterion) {
    let line = format!("{}\n", "x".repeat(79));
    let mut group = criterion.benchmark_group("lines in all, 1 MiB retained, all delivered");
    group.sample_size(10);
    for count in [10_000_usize, 100_000, 1_000_000] {
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter(|| black_box(output(&line, count, Some(MIB), true)));
        });
    }
    group.finish();
}

criterion_group!(all, shapes, growth);
criterion_main!(all);
