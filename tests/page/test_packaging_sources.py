"""What is published, without a browser: its types, its contents, and what checks a release."""

import io
import json
import tarfile
import zipfile

import packed
import pytest
from packed import ROOT, VERSION, must

import release
import sizes

USER = """
import { AioGpuError, BootError, RemoteArray, VERSION, connect, isSupported } from "aiogpu";
import type { Client, ConnectOptions } from "aiogpu";

export async function main(canvas: HTMLCanvasElement, signal: AbortSignal): Promise<number> {
  if (!(await isSupported())) return 0;
  const options: ConnectOptions = {
    canvas,
    signal,
    packages: ["numpy"],
    modules: { julia: new URL("https://example.com/julia.py") },
    onProgress: ({ stage, loaded }) => console.log(stage.length + loaded),
  };
  await using gpu = await connect(options);
  using a: RemoteArray = gpu.array(new Float32Array(6), { shape: [2, 3] });
  const { shape, dtype } = await a.add(1).matmul(a.transpose()).data();
  const total: unknown = await gpu.run("x.sum()", { locals: { x: a }, result: "handle" });
  gpu.addEventListener("devicelost", (event) => console.log(event.type));
  const ended: AioGpuError | null = await gpu.closed;
  if (ended instanceof BootError) console.log(ended.code, ended.traceback, total);
  return shape.length + dtype.length + VERSION.length;
}

// @ts-expect-error there is no such option
export const wrong: Promise<Client> = connect({ worker: "worker.js" });
// @ts-expect-error the source is text
export const wronger = async (gpu: Client) => gpu.run(1);
"""

SERVER = """
import { connect, isSupported } from "aiogpu";
const error = await connect().catch((error) => error);
console.log(await isSupported(), error.name, Object.keys(globalThis).includes("aiogpu"));
"""


@pytest.fixture(scope="module")
def dist(wheel):
    """The folder of what is published, made by ``make dist``."""
    must("make", "--silent", "dist", cwd=ROOT)
    return ROOT / "dist"


@pytest.fixture(scope="module")
def project(dist, tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    return packed.new_project(folder / "project", dist / f"aiogpu-{VERSION}.tgz")


@pytest.mark.parametrize("module", ["esnext bundler", "nodenext nodenext"])
def test_types_are_those_of_the_sources(project, module):
    (project / "user.ts").write_text(USER, "utf-8")
    kind, resolution = module.split()
    options = {
        "strict": True,
        "exactOptionalPropertyTypes": True,
        "noEmit": True,
        "skipLibCheck": False,
        "target": "es2022",
        "lib": ["es2022", "dom"],
        "types": [],
        "module": kind,
        "moduleResolution": resolution,
    }
    config = json.dumps({"compilerOptions": options, "files": ["user.ts"]})
    (project / "tsconfig.json").write_text(config, "utf-8")
    must(packed.BIN / "tsc", "--project", ".", cwd=project)


def test_import_on_a_server_does_nothing_and_is_not_supported(project):
    (project / "server.mjs").write_text(SERVER, "utf-8")
    assert must("node", "server.mjs", cwd=project) == "false NoWebGPUError false\n"


def test_what_would_be_published_is_complete_and_no_more(dist):
    wheel = dist / f"aiogpu-{VERSION}-py3-none-any.whl"
    assert release.check_wheel(wheel, VERSION) == []
    assert release.check_sdist(dist / f"aiogpu-{VERSION}.tar.gz", VERSION) == []
    assert release.check_package(dist / f"aiogpu-{VERSION}.tgz", VERSION) == []


def test_sdist_builds_the_same_wheel(dist, tmp_path):
    folder = packed.unpack(dist / f"aiogpu-{VERSION}.tar.gz", tmp_path)
    build = ("-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path / "dist")
    must(packed.sys.executable, *build, cwd=folder)
    name = f"aiogpu-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(tmp_path / "dist" / name) as made, zipfile.ZipFile(dist / name) as ours:
        assert made.namelist() == ours.namelist()
        assert all(made.read(entry) == ours.read(entry) for entry in ours.namelist())


def test_files_too_many_and_too_few_are_named(dist, tmp_path):
    changed = tmp_path / "changed.tgz"
    with tarfile.open(dist / f"aiogpu-{VERSION}.tgz") as old, tarfile.open(changed, "w:gz") as new:
        for member in old.getmembers():
            content = old.extractfile(member).read()
            if member.name == "package/dist/worker.js":
                member.name = "package/tests/stray.py"
            if member.name == "package/package.json":
                content = content.replace(b'"devDep', b'"dep')
                member.size = len(content)
            new.addfile(member, io.BytesIO(content))
    assert release.check_package(changed, VERSION) == [
        "changed.tgz: dist/worker.js is missing",
        "changed.tgz: tests/stray.py does not belong there",
        "changed.tgz: has dependencies",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# Changes\n\n## 1.0.0 (2026-01-31)\n\n- New.\n\n## 0.1.0\n", None),
        ("# Changes\n\n## 1.0.0 (not released)\n\n- New.\n", "has no date"),
        ("# Changes\n\n## 1.0.0 (2026-01-31)\n\n## 0.9.0 (2026-01-30)\n", "says nothing"),
        ("# Changes\n\n## 0.9.0 (2026-01-31)\n\n- New.\n", "is not that of 1.0.0"),
    ],
)
def test_changelog_has_a_dated_entry_of_the_version(text, says):
    found = release.check_changelog(text, "1.0.0")
    assert [says in line for line in found] == ([] if says is None else [True])


def test_changes_that_are_not_committed_are_named():
    assert release.check_tree([" M web/index.js"]) == ["git: M web/index.js: not committed"]
    assert release.check_tree([]) == []


def test_sizes_are_those_of_the_files(dist):
    found = {name: nbytes for name, nbytes, _ in sizes.sizes(dist)}
    names = {"aiogpu.js", "aiogpu.iife.js", "worker.js"}
    archives = {f"aiogpu-{VERSION}{end}" for end in (".tgz", ".tar.gz", "-py3-none-any.whl")}
    assert set(found) == names | archives
    assert found["worker.js"] == (dist / "worker.js").stat().st_size
    assert all(packed < found[name] / 3 for name, _, packed in sizes.sizes(dist) if name in names)
