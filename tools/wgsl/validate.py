"""Validates WGSL by naga, Firefox's compiler: lines in and out are those of ``validate.mjs``.

A pipeline is made of each shader, so that it is written for Vulkan too; any Vulkan adapter will do.
"""

import json
import sys

import wgpu
from apply import open_device


def main() -> None:
    """Print a line for each shader that is refused."""
    device, _ = open_device()
    for line in sys.stdin:
        job = json.loads(line)
        try:
            module = device.create_shader_module(code=job["wgsl"])
            device.create_compute_pipeline(
                layout="auto", compute={"module": module, "entry_point": "main"}
            )
        except wgpu.GPUError as error:
            print(json.dumps({"label": job["label"], "messages": [str(error)]}))


if __name__ == "__main__":
    main()
