/**
 * Lines that a command's script prints to stderr instead of running the user's text, made for that
 * command alone. They are kept from callbacks: what might become one is held back.
 */
export class Sentinels {
  #lines;
  #onStderr;
  #held = '';
  #passing;
  /** The end of what was passed on: a program may complain before the line is printed. */
  #tail = '';

  /**
   * @param {string[]} lines
   * @param {((text: string) => unknown) | undefined} onStderr
   */
  constructor(lines, onStderr) {
    this.#lines = lines.map(line => `${line}\n`);
    this.#onStderr = onStderr;
    this.#passing = lines.length === 0;
  }

  /** What stands in for the user's callback; none where neither has anything to do. */
  get callback() {
    if (this.#lines.length === 0) return this.#onStderr;
    return text => {
      if (this.#passing) return this.#deliver(text);
      this.#held += text;
      return this.#lines.some(line => line.startsWith(this.#held)) ? undefined : this.#pass();
    };
  }

  #pass() {
    this.#passing = true;
    const text = this.#held;
    this.#held = '';
    return text === '' ? undefined : this.#deliver(text);
  }

  #deliver(text) {
    const longest = Math.max(...this.#lines.map(line => line.length));
    this.#tail = (this.#tail + text).slice(-longest);
    return this.#onStderr?.(text);
  }

  /** After the end: the line that was printed, or nothing once the rest was passed on. */
  async met() {
    if (this.#lines.includes(this.#held)) return this.#held.trimEnd();
    await this.#pass();
    return this.#lines.find(line => this.#tail.endsWith(line))?.trimEnd();
  }
}
