/**
 * Python in script tags: `<script type="text/aiogpu">` blocks run in one worker, one after another.
 *
 *     <script type="text/aiogpu" packages="numpy" output="#result">
 *       import aiogpu as gpu
 *       await gpu.arange(4).sum().item()
 *     </script>
 *
 * Attributes of a block: `src`, a file with the source; `packages`, names or URLs of wheels; `output`, a selector of
 * the element that shows what the block prints, its value and its error. Without one an element after the block does.
 */

/** @typedef {import("./client.js").Client} Client */
/** @typedef {import("./connect.js").ConnectOptions} ConnectOptions */

const BLOCKS = 'script[type="text/aiogpu"]';

/**
 * Runs the blocks of a document that have not run yet.
 *
 * An error is shown where its block stands and ends the others, as an exception ends a program.
 *
 * @param {(options: ConnectOptions) => Promise<Client>} connect
 * @param {ConnectOptions} options
 * @param {Document} [document]
 * @returns {Promise<Client | null>} the client, which stays open; null when there is no block
 * @throws {AioGpuError} what a block, or the start, has failed with
 */
export async function runBlocks(connect, options, document = globalThis.document) {
  const blocks = [
    .../** @type {NodeListOf<HTMLScriptElement>} */ (document.querySelectorAll(BLOCKS)),
  ]
    .filter((block) => block.dataset["aiogpu"] === undefined)
    .map((block) => new Block(block));
  const [first] = blocks;
  if (first === undefined) {
    return null;
  }
  // All at once, before the first: whether arrays come as NumPy's is settled at the start.
  const packages = [...(options.packages ?? []), ...blocks.flatMap((block) => block.packages)];
  const client = await first.showing(() => connect({ ...options, packages }));
  for (const block of blocks) {
    await block.showing(() => block.run(client));
  }
  return client;
}

class Block {
  #script;
  #output;

  /** @param {HTMLScriptElement} script */
  constructor(script) {
    this.#script = script;
    script.dataset["aiogpu"] = "waiting";
    this.#output = outputOf(script);
  }

  /** @returns {string[]} */
  get packages() {
    return (this.#script.getAttribute("packages") ?? "").split(/[\s,]+/).filter(Boolean);
  }

  /** @param {Client} client */
  async run(client) {
    this.#script.dataset["aiogpu"] = "running";
    const source = await sourceOf(this.#script);
    const print = (/** @type {Event} */ event) =>
      this.#write(/** @type {CustomEvent<string>} */ (event).detail);
    client.addEventListener("stdout", print);
    client.addEventListener("stderr", print);
    try {
      const filename = this.#script.getAttribute("src") ?? "script";
      /** @type {unknown} */
      const value = await client.run(source, { filename });
      if (value !== null) {
        this.#write(shown(value));
      }
    } finally {
      client.removeEventListener("stdout", print);
      client.removeEventListener("stderr", print);
    }
    this.#script.dataset["aiogpu"] = "done";
  }

  /**
   * Shows the error, if there is one, and passes it on.
   *
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async showing(work) {
    try {
      return await work();
    } catch (error) {
      this.#script.dataset["aiogpu"] = "failed";
      const { traceback, message } = /** @type {import("./errors.js").AioGpuError} */ (error);
      this.#output.classList.add("aiogpu-error");
      this.#output.setAttribute("role", "alert");
      this.#write(traceback ?? message);
      throw error;
    }
  }

  /** @param {string} text */
  #write(text) {
    this.#output.append(`${text.trimEnd()}\n`);
  }
}

/** @param {HTMLScriptElement} script @returns {Element} */
function outputOf(script) {
  const selector = script.getAttribute("output");
  const named = selector === null ? null : script.ownerDocument.querySelector(selector);
  if (named !== null) {
    return named;
  }
  const made = script.ownerDocument.createElement("pre");
  made.className = "aiogpu-output";
  if (script.closest("head") === null) {
    script.after(made);
  } else {
    // Nothing in a head is shown.
    script.ownerDocument.body.append(made);
  }
  return made;
}

/** @param {HTMLScriptElement} script */
async function sourceOf(script) {
  if (script.src === "") {
    return script.text;
  }
  const response = await fetch(script.src);
  if (!response.ok) {
    throw new Error(`${script.src}: HTTP ${response.status}`);
  }
  return response.text();
}

/** @param {unknown} value */
function shown(value) {
  return typeof value === "string" ? value : JSON.stringify(plain(value), (_, item) => plain(item));
}

/** What JSON can show. @param {unknown} item @returns {unknown} */
function plain(item) {
  if (typeof item === "bigint") {
    return String(item);
  }
  return ArrayBuffer.isView(item) ? Array.from(/** @type {Uint8Array} */ (item)) : item;
}
