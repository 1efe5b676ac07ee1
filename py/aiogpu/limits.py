"""What a device allows, as far as shaders and launches depend on it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that the compile half looks at; the defaults are those that WebGPU guarantees.

    Attributes:
        max_buffer_nbytes: Largest buffer in bytes.
        max_binding_nbytes: Largest storage binding in bytes.
        max_storage_buffers: Storage buffers of one dispatch.
        max_invocations: Invocations of one workgroup.
        max_shared_nbytes: Workgroup memory in bytes.
        max_groups: Workgroups along one dimension of a dispatch.
        immediate_nbytes: Bytes of immediate data, 0 where the browser has none.
        is_fallback: The adapter is software: barriers cost 30 to 40 times what they cost elsewhere.
        has_f16: The device has the feature shader-f16, so that WGSL may ``enable f16``.
        has_subgroups: The same of subgroups.
        max_size_x: Invocations of a workgroup along its first axis; likewise the others.
    """

    max_buffer_nbytes: int = 268435456
    max_binding_nbytes: int = 134217728
    max_storage_buffers: int = 8
    max_invocations: int = 256
    max_shared_nbytes: int = 16384
    max_groups: int = 65535
    immediate_nbytes: int = 0
    is_fallback: bool = False
    has_f16: bool = False
    has_subgroups: bool = False
    max_size_x: int = 256
    max_size_y: int = 256
    max_size_z: int = 64


# WebGPU's names of the limits above that are asked of the adapter when a device is opened.
WEBGPU_NAMES = {
    "max_buffer_nbytes": "maxBufferSize",
    "max_binding_nbytes": "maxStorageBufferBindingSize",
    "max_storage_buffers": "maxStorageBuffersPerShaderStage",
    "max_invocations": "maxComputeInvocationsPerWorkgroup",
    "max_shared_nbytes": "maxComputeWorkgroupStorageSize",
    "max_groups": "maxComputeWorkgroupsPerDimension",
    "max_size_x": "maxComputeWorkgroupSizeX",
    "max_size_y": "maxComputeWorkgroupSizeY",
    "max_size_z": "maxComputeWorkgroupSizeZ",
}
