"""What the bridge's tests say to a page."""

# What a promise came to, as JSON: `outcome(promise)` in every page of these tests.
OUTCOME = """
window.plain = (value) =>
  ArrayBuffer.isView(value)
    ? { type: value.constructor.name, shape: value.shape, dtype: value.dtype, data: [...value] }
    : value;
window.outcome = async (promise) => {
  const started = performance.now();
  const late = new Promise((resolve, reject) => setTimeout(() => reject(Error("hangs")), 55000));
  const settled = await Promise.allSettled([Promise.race([promise, late])]);
  const { status, value, reason } = settled[0];
  const seconds = (performance.now() - started) / 1000;
  if (status === "fulfilled") return { value: plain(value), seconds };
  const { name, code, message, stack, operation, cause } = Object(reason);
  const { pythonName, traceback, kernelLine } = Object(reason);
  const python = { pythonName, traceback, kernelLine };
  return { name, code, message, stack, operation, cause: String(cause), ...python, seconds };
};
window.workers = [];
window.Worker = class extends Worker {
  constructor(...args) {
    super(...args);
    workers.push(this);
  }
};
"""

# Where Pyodide is for these tests; everything else has its default.
OPTIONS = '{ indexURL: "/build/pyodide/", ...extra }'


def prepare(page, url, script=""):
    """A page of that origin with the client's module in `client`."""
    page.add_init_script(OUTCOME + script)
    page.goto(f"{url}/web/")
    page.evaluate("import('/web/index.js').then((module) => { window.client = module; })")
    return page


def connect(page, extra="{}"):
    """Connects, keeps the client in `gpu`, and gives what `connect` came to."""
    return page.evaluate(
        f"""() => {{
            const extra = {extra};
            const connecting = client.connect({OPTIONS});
            return outcome(connecting.then((gpu) => {{ window.gpu = gpu; return "connected"; }}));
        }}"""
    )


def run(page, source, options="{}"):
    """What `gpu.run` came to."""
    return page.evaluate(
        f"(source) => outcome(gpu.run(source, {options}))", source.replace("\n    ", "\n").strip()
    )
