import type { Launch, LaunchInput } from "./launch.ts";

type Start = (input: LaunchInput) => Launch | undefined;

/** Ways in which a release can be bad, by what an image's tag says after the version (`v3.5.7-crashing`). */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  /** Its controller does not know an option and ends. */
  crashing: ["--no-such-option"],
  /** Its controller runs and answers its probes, and nothing in it looks at an application. */
  stalled: ["--status-processors", "0"],
};

/** The version of a tag, and the way in which its controller is to be bad; `undefined`: no way is known by that name. */
export function parseTag(tag: string): { readonly version: string; readonly brokenBy: readonly string[] } | undefined {
  const [version = "", way] = tag.replace(/^v/, "").split("-", 2);
  const brokenBy = way === undefined ? [] : WAYS[way];
  return brokenBy === undefined ? undefined : { version, brokenBy };
}

/** Starts the controller with further arguments; the last of one option is the one that counts. */
export function breakController(start: Start, brokenBy: readonly string[]): Start {
  return (input) => {
    const launch = start(input);
    const isController = launch?.env["ARGOCD_BINARY_NAME"] === "argocd-application-controller";
    return launch === undefined || !isController ? launch : { ...launch, args: [...launch.args, ...brokenBy] };
  };
}
