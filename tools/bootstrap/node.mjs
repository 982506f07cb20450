import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { alone } from "./alone.mjs";
import { npmCi } from "./npm-ci.mjs";
import { NotReady, path } from "./project.mjs";

/**
 * Whether a Node.js runs Argosy: 22.19 is the first that strips types without a flag and has what undici asks for. Odd majors
 * are left out, because vitest and others do not support them.
 */
export function isSuitable(version) {
  const [major, minor] = version.split(".").map(Number);
  return (major === 22 && minor >= 19) || (major >= 24 && major % 2 === 0);
}

/** Path of a suitable Node.js: the running one, else the pinned one of tools/node, which is installed from the registry once. */
export async function suitableNode() {
  if (isSuitable(process.versions.node)) return process.execPath;
  const pinned = await pinnedPackage();
  if (!(await isInstalled(pinned))) {
    await alone(async () => {
      if (!(await isInstalled(pinned))) await install(pinned);
    });
  }
  return pinned.binary;
}

async function pinnedPackage() {
  const name = `node-${process.platform}-${process.arch}`;
  const version = JSON.parse(await readFile(path("tools/node/package.json"), "utf8")).optionalDependencies[name];
  if (version === undefined) {
    throw new NotReady(
      `Node.js ${process.versions.node} is too old and none can be fetched for ${process.platform} on ${process.arch}: install Node.js 24 and try again`,
    );
  }
  const directory = path("tools/node/node_modules", name);
  return { version, manifest: `${directory}/package.json`, binary: `${directory}/bin/node` };
}

async function isInstalled({ manifest, version }) {
  const text = await readFile(manifest, "utf8").catch(() => "{}");
  return JSON.parse(text).version === version;
}

async function install({ version, binary }) {
  const what = `Node.js ${version}, because this machine has ${process.versions.node}`;
  await npmCi({ what, directory: path("tools/node"), include: "optional", env: process.env });
  const said = await promisify(execFile)(binary, ["--version"]).catch((cause) => cause);
  if (!(said instanceof Error)) return;
  // npm ends well when an optional package cannot be had, so a missing file means an unreachable registry.
  const problem =
    said.code === "ENOENT"
      ? "could not be fetched: see `npm config get registry` and your proxy, or"
      : `does not start here (${said.message}):`;
  throw new NotReady(`Node.js ${version} ${problem} install Node.js 24, then try again`);
}
