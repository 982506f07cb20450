import { spawn } from "node:child_process";
import { UnavailableError } from "../../../src/domain/errors.ts";
import { API_VERSIONS, type KubernetesMinor } from "./api-versions.ts";
import type { ChartTools } from "./chart-tools.ts";

/** What kubeconform found in manifests. Whoever asks compares the counts with what there should be: nothing is in order in nothing. */
export interface CheckedManifests {
  readonly valid: number;
  /** Objects of the kinds that were left out. */
  readonly skipped: number;
  /** One line for each thing that is wrong: `apps/v1 Deployment shop: /spec/replicas: got string, want integer`. Sorted. */
  readonly problems: readonly string[];
}

/**
 * Kinds of the Prometheus operator that a chart may render, as kubeconform's `-skip` names them. Their schemas are in CRDs of the operator, not
 * in Kubernetes. Each is named, so that a misspelt one is still an error.
 */
const WITHOUT_SCHEMA = ["ServiceMonitor", "PodMonitor", "PrometheusRule"].map((kind) => `monitoring.coreos.com/v1/${kind}`);

interface Output {
  readonly resources: readonly {
    readonly kind: string;
    readonly name: string;
    readonly version: string;
    readonly msg: string;
    readonly validationErrors?: readonly { readonly path: string; readonly msg: string }[];
  }[];
  readonly summary: { readonly valid: number; readonly skipped: number };
}

/**
 * Holds manifests, YAML documents, against what a version of Kubernetes serves: kinds, fields and types. Throws `UnavailableError` when
 * kubeconform cannot read them at all.
 */
export async function checkManifests(
  tools: Pick<ChartTools, "kubeconform" | "schemaLocation">,
  { kubernetes, manifests }: { readonly kubernetes: KubernetesMinor; readonly manifests: string },
  signal: AbortSignal,
): Promise<CheckedManifests> {
  const release = API_VERSIONS.find(({ minor }) => minor === kubernetes)?.release ?? kubernetes;
  const options = ["-strict", "-summary", "-output", "json", "-skip", WITHOUT_SCHEMA.join()];
  const args = [...options, "-kubernetes-version", release, "-schema-location", tools.schemaLocation, "-"];
  const child = spawn(tools.kubeconform, args, { stdio: ["pipe", "pipe", "pipe"], signal });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  // It may end before it has read everything; its exit says so.
  child.stdin.on("error", () => undefined);
  child.stdin.end(manifests);
  await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const found = parse(Buffer.concat(out).toString("utf8"));
  if (found === undefined)
    throw new UnavailableError(`Checking manifests with kubeconform: ${Buffer.concat(err).toString("utf8").trim().slice(0, 1000)}`, {
      code: "dev.kubeconform",
    });
  return { valid: found.summary.valid, skipped: found.summary.skipped, problems: found.resources.flatMap(problemsOf).sort() };
}

function parse(text: string): Output | undefined {
  try {
    return JSON.parse(text) as Output;
  } catch {
    return undefined;
  }
}

function problemsOf({ kind, name, version, msg, validationErrors = [] }: Output["resources"][number]): readonly string[] {
  const object = [version, kind, name].filter((part) => part !== "").join(" ") || "a document";
  if (validationErrors.length === 0) return [`${object}: ${msg}`];
  const found = validationErrors.some((error) => error.msg === INSIDE) ? errorsInText(msg) : validationErrors;
  return found.map((error) => `${object}: ${error.path}: ${error.msg}`);
}

/** What kubeconform says of a field whose schema refers to another: what is wrong there is in its text alone. */
const INSIDE = "validation failed";

/** `… - at '/spec': validation failed - at '/spec/a': got string, want integer` */
function errorsInText(text: string): readonly { readonly path: string; readonly msg: string }[] {
  const errors = text.split(/\s+- at '/).slice(1);
  return errors
    .map((error) => {
      const end = error.indexOf("': ");
      return { path: error.slice(0, end), msg: error.slice(end + 3).trim() };
    })
    .filter(({ msg }) => msg !== INSIDE);
}
