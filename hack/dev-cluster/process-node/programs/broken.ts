import { fileURLToPath } from "node:url";
import type { Launch, LaunchInput } from "./launch.ts";

type Start = (input: LaunchInput) => Launch | undefined;

/** How one component of a release is faulty. */
export interface Break {
  readonly component: string;
  /** Further arguments. Of a repeated option the last one counts. */
  readonly args?: readonly string[];
  /** Folder of programs that it runs instead of those of the same names. */
  readonly path?: string;
}

/** Faults of a release, by what an image's tag has after the version (`v3.5.7-crashing`). */
const WAYS: Readonly<Record<string, Break>> = {
  /** Its controller does not know an option and exits. */
  crashing: { component: "argocd-application-controller", args: ["--no-such-option"] },
  /** Its controller runs and answers its probes, but compares no application. */
  stalled: { component: "argocd-application-controller", args: ["--status-processors", "0"] },
  /** Its repo-server renders one manifest of twenty in a way that makes its sync fail, but not its comparison. */
  failing: { component: "argocd-repo-server", path: fileURLToPath(new URL("failing", import.meta.url)) },
};

/** The version of a tag, and its fault. `undefined`: there is no fault of that name. */
export function parseTag(tag: string): { readonly version: string; readonly brokenBy: Break | undefined } | undefined {
  const [version = "", way] = tag.replace(/^v/, "").split("-", 2);
  if (way === undefined) return { version, brokenBy: undefined };
  const brokenBy = WAYS[way];
  return brokenBy === undefined ? undefined : { version, brokenBy };
}

/** Starts the faulty component in that way, and the others as they are. */
export function breakComponent(start: Start, broken: Break | undefined): Start {
  return (input) => {
    const launch = start(input);
    if (launch === undefined || broken === undefined || launch.env["ARGOCD_BINARY_NAME"] !== broken.component) return launch;
    const { args = [], path } = broken;
    return { ...launch, args: [...launch.args, ...args], ...(path === undefined ? {} : { path }) };
  };
}
