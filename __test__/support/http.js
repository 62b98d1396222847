/** A plain HTTP server on loopback, for what stands beside AgentCore: STS, metadata, portals. */
import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

/**
 * `answer` gets each request, with its `body` as text and its `number`, and gives a status and
 * a text, or only the text.
 */
export async function httpServer(answer) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const { method, url, headers } = request;
    const seen = { method, url, headers, body: Buffer.concat(pieces).toString(), number: requests.length + 1 };
    requests.push(seen);
    const [status, text, extra] = [await answer(seen)].flatMap(given => (Array.isArray(given) ? given : [200, given]));
    response.writeHead(status, { 'content-length': Buffer.byteLength(text), ...extra });
    response.end(text);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, requests };
}
