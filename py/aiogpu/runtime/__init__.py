"""Running programs on one device: buffers, pipelines, the stream, transfers, errors."""
