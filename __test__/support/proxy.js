/** An HTTP proxy on loopback, for tunnels. */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * Opens tunnels to where it is asked, or to the port `to` whatever it is asked; or answers
 * with the status `refuse`, or not at all, with `refuse: 'silently'`, until `accept()`.
 */
export async function connectProxy({ to, refuse } = {}) {
  const tunnels = [];
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request.url);
    response.writeHead(502).end();
  });
  server.on('connect', (request, socket) => {
    tunnels.push({ target: request.url, authorization: request.headers['proxy-authorization'] });
    socket.on('error', () => {});
    if (refuse === 'silently') return void socket.destroy();
    if (refuse) return void socket.end(`HTTP/1.1 ${refuse} No\r\ncontent-length: 0\r\n\r\n`);
    const [host, port] = to ? ['127.0.0.1', to] : request.url.split(':');
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\nvia: a test\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address();
  const accept = () => {
    refuse = undefined;
  };
  return { port, url: `http://127.0.0.1:${port}`, tunnels, requests, accept };
}
