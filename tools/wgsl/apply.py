"""Runs WGSL kernels over arrays by naga, Firefox's compiler, on a Vulkan adapter.

Lines in and out are those of ``apply.mjs``, which does it with Dawn, as Chromium. Dawn refuses the
lavapipe of Debian 12 (Mesa 22.3.6): "Vulkan shaderUniform*ArrayDynamicIndexing required".
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import wgpu

WORKGROUP = 64
MAX_GROUPS = 65535


def open_device() -> tuple[Any, str]:
    """The device of the Vulkan adapter that VK_ICD_FILENAMES names, and what it is.

    Raises:
        SystemExit: There is none.
    """
    for adapter in wgpu.gpu.enumerate_adapters_sync():
        if adapter.info["backend_type"] == "Vulkan":
            shown = f"{adapter.info['device']}, {adapter.info['description']}"
            return adapter.request_device_sync(), shown
    sys.exit("apply: no Vulkan adapter: see VK_ICD_FILENAMES")


def compute(device: Any, job: dict[str, Any]) -> None:  # noqa: ANN401 - wgpu has no types
    """Run one kernel and write its output."""
    groups = -(-job["count"] // WORKGROUP)
    if groups > MAX_GROUPS:
        raise ValueError(f"count: {job['count']}: at most {MAX_GROUPS * WORKGROUP} elements")
    usage = wgpu.BufferUsage
    module = device.create_shader_module(code=job["wgsl"])
    pipeline = device.create_compute_pipeline(
        layout="auto", compute={"module": module, "entry_point": "main"}
    )
    buffers = [
        device.create_buffer_with_data(data=Path(path).read_bytes(), usage=usage.STORAGE)
        for path in job["inputs"]
    ]
    size = 4 * job["count"]
    result = device.create_buffer(size=size, usage=usage.STORAGE | usage.COPY_SRC)
    group = device.create_bind_group(
        layout=pipeline.get_bind_group_layout(0),
        entries=[
            {"binding": binding, "resource": {"buffer": buffer}}
            for binding, buffer in enumerate([*buffers, result])
        ],
    )
    encoder = device.create_command_encoder()
    compute_pass = encoder.begin_compute_pass()
    compute_pass.set_pipeline(pipeline)
    compute_pass.set_bind_group(0, group)
    compute_pass.dispatch_workgroups(groups)
    compute_pass.end()
    device.queue.submit([encoder.finish()])
    np.frombuffer(device.queue.read_buffer(result), np.uint32).tofile(job["output"])


def main() -> None:
    """Run every job of standard input; exit status 1 when one failed."""
    device, shown = open_device()
    print(json.dumps({"adapter": shown}))
    failed = False
    for line in sys.stdin:
        job = json.loads(line)
        try:
            compute(device, job)
        except (wgpu.GPUError, ValueError, OSError) as error:
            failed = True
            print(json.dumps({"label": job["label"], "messages": [str(error)]}))
    sys.exit(failed)


if __name__ == "__main__":
    main()
