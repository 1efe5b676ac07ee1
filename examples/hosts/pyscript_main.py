"""A script of PyScript on the page's own thread: the canvas is the page's."""

import json

import acceptance
from pyscript import document, window

import aiogpu as gpu

state = document.getElementById("state")
try:
    canvas = gpu.Canvas(document.getElementById("picture"))
    accepted = await acceptance.main(canvas)
except Exception as error:
    state.textContent = repr(error)
    state.dataset.state = "failed"
    raise
window.accepted = json.dumps(accepted)
state.textContent = f"ready: {accepted['computed']}"
state.dataset.state = "ready"
