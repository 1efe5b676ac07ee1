"""One buffer table: what arrays, backend, kernels, canvas or bridge make, all five can use."""

SOURCE = '''
import aiogpu as gpu

twice = gpu.wgsl("""
    @group(0) @binding(0) var<storage, read> x: array<f32>;
    @group(0) @binding(1) var<storage, read_write> y: array<f32>;
    @compute @workgroup_size(64) fn twice(@builtin(global_invocation_id) id: vec3u) {
      if (id.x < arrayLength(&x)) { y[id.x] = 2.0 * x[id.x]; }
    }
""")
backend = await gpu.Backend.create()
canvas = gpu.canvas("canvas")

async def made_by(maker):
    """(4, 8) numbers from 0 to 31 / 32, made by one of the five."""
    numbers = gpu.arange(32, dtype="float32").reshape(4, 8) / 32
    if maker == "arrays":
        return numbers
    if maker == "backend":
        handle = backend.alloc(128)
        backend.copy_htod(handle, bytes(await numbers.data()))
        return backend.array(handle, (4, 8))
    if maker == "kernels":
        return twice(numbers / 2, out_shape=(4, 8), threads=32)
    if maker == "canvas":
        canvas.show(numbers)
        return canvas.shown
    return gpu.asarray(given).reshape(4, 8)

async def used_by(user, x):
    """The sum of x, by one of the five; the page adds for the bridge."""
    if user == "arrays":
        return await x.sum().item()
    if user == "backend":
        handle, result = backend.handle(x), backend.alloc(4)
        backend.reduce("sum", handle, result, (32,), 0)
        return (await backend.array(result, ()).item())
    if user == "kernels":
        return await (twice(x, out_shape=(4, 8), threads=32).sum() / 2).item()
    if user == "canvas":
        canvas.show(x)
        await gpu.synchronize()
        return await canvas.shown.sum().item()
    return x

await used_by(user, await made_by(maker))
'''
FIVE = ("arrays", "backend", "kernels", "canvas", "bridge")


def test_whatever_makes_a_buffer_all_five_can_use_it(page, base_url):
    page.goto(f"{base_url}/README.md")
    sums = page.evaluate(
        """async ([source, five, indexURL]) => {
          const { connect } = await import("/web/index.js");
          const canvas = document.createElement("canvas");
          const gpu = await connect({ indexURL, canvas });
          const sums = {};
          for (const maker of five) {
            for (const user of five) {
              const given = Float32Array.from({ length: 32 }, (_, at) => at / 32);
              const value = await gpu.run(source, { locals: { given, maker, user } });
              const total = typeof value === "number" ? value : value.reduce((a, b) => a + b);
              sums[`${maker} to ${user}`] = total;
            }
          }
          await gpu.close();
          return sums;
        }""",
        [SOURCE, list(FIVE), f"{base_url}/build/pyodide/"],
    )
    assert sums == {f"{maker} to {user}": 15.5 for maker in FIVE for user in FIVE}
