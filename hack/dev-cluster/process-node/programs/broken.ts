import { fileURLToPath } from "node:url";
import type { Launch, LaunchInput } from "./launch.ts";

type Start = (input: LaunchInput) => Launch | undefined;

/** How one component of a release is bad. */
export interface Break {
  readonly component: string;
  /** Further arguments; the last of one option is the one that counts. */
  readonly args?: readonly string[];
  /** Folder of programs that it finds instead of those of their names. */
  readonly path?: string;
}

/** Ways in which a release can be bad, by what an image's tag says after the version (`v3.5.7-crashing`). */
const WAYS: Readonly<Record<string, Break>> = {
  /** Its controller does not know an option and ends. */
  crashing: { component: "argocd-application-controller", args: ["--no-such-option"] },
  /** Its controller runs and answers its probes, and nothing in it compares an application. */
  stalled: { component: "argocd-application-controller", args: ["--status-processors", "0"] },
  /** Its repo-server renders one manifest of twenty such that its sync fails; comparisons do not. */
  failing: { component: "argocd-repo-server", path: fileURLToPath(new URL("failing", import.meta.url)) },
};

/** The version of a tag, and the way in which it is to be bad; `undefined`: no way is known by that name. */
export function parseTag(tag: string): { readonly version: string; readonly brokenBy: Break | undefined } | undefined {
  const [version = "", way] = tag.replace(/^v/, "").split("-", 2);
  if (way === undefined) return { version, brokenBy: undefined };
  const brokenBy = WAYS[way];
  return brokenBy === undefined ? undefined : { version, brokenBy };
}

/** Starts the component that is to be bad so, and the others as they are. */
export function breakComponent(start: Start, broken: Break | undefined): Start {
  return (input) => {
    const launch = start(input);
    if (launch === undefined || broken === undefined || launch.env["ARGOCD_BINARY_NAME"] !== broken.component) return launch;
    const { args = [], path } = broken;
    return { ...launch, args: [...launch.args, ...args], ...(path === undefined ? {} : { path }) };
  };
}
