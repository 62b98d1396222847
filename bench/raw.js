/**
 * What cannot be beaten: the same answers read from the socket and thrown away. Shows that
 * the server is not what is measured.
 */
import { connect } from 'node:net';

const END = Buffer.from('0\r\n\r\n');

export class RawReader {
  #port;
  #idle = [];

  constructor({ endpoint }) {
    this.#port = Number(new URL(endpoint).port);
  }

  /** Resolves with the number of bytes that the answer had on the wire. */
  async executeCommand(command) {
    const connection = this.#idle.pop() ?? new Connection(this.#port);
    const wireBytes = await connection.ask(JSON.stringify({ command, timeout: 300 }));
    this.#idle.push(connection);
    return { wireBytes };
  }

  async close() {
    for (const connection of this.#idle) connection.close();
  }
}

class Connection {
  #socket;
  #bytes = 0;
  #tail = Buffer.alloc(END.length);
  #resolve;

  constructor(port) {
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      // One buffer for all reads: allocating is not what is measured either.
      onread: { buffer: Buffer.allocUnsafe(256 * 1024), callback: (n, buffer) => this.#read(n, buffer) },
    });
  }

  ask(body) {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#socket.once('error', reject);
      this.#socket.write(
        `POST / HTTP/1.1\r\nhost: bench\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });
  }

  #read(length, buffer) {
    this.#bytes += length;
    const kept = Math.min(length, END.length);
    this.#tail.copyWithin(0, kept);
    buffer.copy(this.#tail, END.length - kept, length - kept, length);
    if (this.#tail.equals(END)) {
      this.#socket.removeAllListeners('error');
      this.#tail.fill(0);
      const bytes = this.#bytes;
      this.#bytes = 0;
      this.#resolve(bytes);
    }
    return true;
  }

  close() {
    this.#socket.destroy();
  }
}
