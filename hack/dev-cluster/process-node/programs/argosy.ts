import { dirname, join } from "node:path";
import process from "node:process";
import type { BuiltSet } from "../../build.ts";
import { type Launch, type LaunchInput, relocate } from "./launch.ts";

const root = join(import.meta.dirname, "../../../..");

/** Argosy's own image is this checkout, run by the Node.js that runs this process. */
export const CHECKOUT: { readonly set: string; readonly built: BuiltSet } = {
  set: "argosy",
  built: { directory: root, bin: dirname(process.execPath), program: () => process.execPath },
};

/** How a container of Argosy's image runs on this machine. It has the access to its cluster that its ServiceAccount gives, by a kubeconfig. */
export function launchArgosy(input: LaunchInput): Launch {
  const args = input.words.map((word) => relocate(word, input.mountPaths, input.root));
  const identity = input.kubeconfig === undefined ? [] : ["--kubeconfig", input.kubeconfig];
  return {
    program: "node",
    args: [join(root, "src/cli/argosy.ts"), ...args, ...identity],
    env: input.variables,
    ...{ folders: {}, forwards: [], connectsTo: [] },
  };
}
