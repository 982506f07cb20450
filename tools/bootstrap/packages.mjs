import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname } from "node:path";
import { alone } from "./alone.mjs";
import { npmCi } from "./npm-ci.mjs";
import { path } from "./project.mjs";

const LOCKFILE = path("package-lock.json");
/** Holds the hash of the lockfile that node_modules was installed from; npm removes it together with the rest. */
const STAMP = path("node_modules/.argosy-lockfile");

/** Makes node_modules hold exactly what package-lock.json names. */
export async function installPackages(node) {
  const wanted = createHash("sha256")
    .update(await readFile(LOCKFILE))
    .digest("hex");
  if ((await stamp()) === wanted) return;
  await alone(async () => {
    if ((await stamp()) === wanted) return;
    if (!(await isInstalledByHand())) {
      await npmCi({ what: "the packages of package-lock.json", directory: path("."), include: "dev", env: environment(node) });
    }
    await writeFile(STAMP, wanted);
  });
}

/** The environment programs run in: the chosen Node.js and the installed tools come first in PATH. */
export function environment(node) {
  const places = [dirname(node), path("node_modules/.bin"), process.env.PATH ?? ""];
  return { ...process.env, PATH: places.join(delimiter) };
}

async function stamp() {
  return readFile(STAMP, "utf8").catch(() => "");
}

/**
 * Whether somebody ran npm without us and node_modules is right all the same. npm writes its own list as the last step of an
 * installation, so the list also says that the installation was completed.
 */
async function isInstalledByHand() {
  const [wanted, present] = await Promise.all([packages(LOCKFILE), packages(path("node_modules/.package-lock.json"))]);
  const same = (name) => present[name] !== undefined && present[name].integrity === wanted[name].integrity;
  return (
    Object.keys(wanted).every((name) => name === "" || same(name) || (present[name] === undefined && wanted[name].optional === true)) &&
    Object.keys(present).length > 0 &&
    Object.keys(present).every((name) => wanted[name] !== undefined)
  );
}

async function packages(lockfile) {
  const text = await readFile(lockfile, "utf8").catch(() => "{}");
  return JSON.parse(text).packages ?? {};
}
