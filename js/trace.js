/**
 * The headers of distributed tracing for one command: what the option says, or what
 * OpenTelemetry's active span is, where `@opentelemetry/api` is installed.
 */

let api;

async function openTelemetry() {
  api ??= import('@opentelemetry/api').catch(() => undefined);
  return api;
}

/**
 * @param {import('../index.js').AgentCoreRuntimeSandboxOptions['trace']} option
 * @returns {Promise<{ traceparent?: string, tracestate?: string, baggage?: string,
 *   traceId?: string } | undefined>}
 */
export async function traceHeaders(option) {
  if (option === false) return undefined;
  if (typeof option === 'function') return option() ?? undefined;
  if (option) return option;
  const otel = await openTelemetry();
  if (!otel) return undefined;
  const carrier = {};
  otel.propagation.inject(otel.context.active(), carrier);
  return Object.keys(carrier).length > 0 ? carrier : undefined;
}
