import { setTimeout as sleep } from "node:timers/promises";
import { UnavailableError } from "../../../domain/errors.ts";
import { asArray, asObject, asString, type Json } from "../../../domain/json.ts";
import { ANNOTATION_LET_IN } from "../../../domain/names.ts";
import type { SeenProject } from "../../../domain/seen-project.ts";
import type { Log } from "../../../telemetry/log.ts";
import { createLineReader } from "../../event-lines.ts";
import type { Projects } from "../../port.ts";
import { readProject } from "../../seen-project.ts";
import { textOf, type Upstream } from "./upstream.ts";

export interface ProjectsDeps {
  /** The cluster that the instance runs on. */
  readonly engine: Pick<Upstream, "send">;
  readonly token: (signal: AbortSignal) => Promise<string | undefined>;
  readonly namespace: string;
  /** The cluster that is filtered, as Applications name it. */
  readonly server: string;
  readonly log: Log;
}

/** One line of a watch. */
type WatchedProject = Json;

/** How soon the watch is opened again after it ended, in ms; twice as long after each failure in a row, up to the longest. */
const AGAIN_MS = 200;
const LONGEST_MS = 10_000;
/** How long a watch lasts, in seconds, and how long a request may take, in ms. */
const WATCH_SECONDS = 300;
const REQUEST_MS = 30_000;

/** Reads projects with plain requests: the toolkit's client would take more memory than all the rest of the filter. */
export function createProjects({ engine, token, namespace, server, log }: ProjectsDeps): Projects {
  const path = `/apis/argoproj.io/v1alpha1/namespaces/${encodeURIComponent(namespace)}/appprojects`;

  const send = async (sent: { readonly method: string; readonly path: string; readonly body?: string }, signal: AbortSignal) => {
    const bearer = await token(signal);
    const headers = {
      accept: "application/json",
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(sent.body === undefined
        ? {}
        : { "content-type": "application/merge-patch+json", "content-length": Buffer.byteLength(sent.body) }),
    };
    const answer = await engine.send({ ...sent, headers }, signal);
    if (answer.statusCode === 200) return answer;
    const text = await textOf(answer);
    const context = { status: answer.statusCode ?? 0, method: sent.method, said: text.slice(0, 500) };
    throw new UnavailableError("Reading or writing AppProjects", { code: "filter.projects", context });
  };

  const list = async (signal: AbortSignal) => {
    const answer = await send({ method: "GET", path }, AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]));
    const { items, metadata } = asObject(JSON.parse(await textOf(answer)));
    return { items: asArray(items), version: asString(asObject(metadata)["resourceVersion"]) };
  };

  const watch = async function* (version: string, signal: AbortSignal): AsyncGenerator<WatchedProject> {
    const query = new URLSearchParams({
      ...{ watch: "true", resourceVersion: version },
      ...{ allowWatchBookmarks: "true", timeoutSeconds: String(WATCH_SECONDS) },
    });
    const limit = AbortSignal.timeout((WATCH_SECONDS + 60) * 1000);
    const answer = await send({ method: "GET", path: `${path}?${query.toString()}` }, AbortSignal.any([signal, limit]));
    const readLines = createLineReader();
    for await (const chunk of answer as AsyncIterable<Buffer>)
      for (const line of readLines(chunk)) yield asObject(JSON.parse(line.toString("utf8")));
  };

  /** Lists once and watches until that ends. Calls back after each change. */
  const followOnce = async (onChange: (projects: readonly SeenProject[]) => void, onListed: () => void, signal: AbortSignal) => {
    const { items, version } = await list(signal);
    const known = new Map<string, SeenProject>();
    const put = (raw: unknown) => {
      const project = readProject(raw, server);
      if (project !== undefined) known.set(project.name, project);
    };
    items.forEach(put);
    onChange([...known.values()]);
    onListed();
    for await (const event of watch(version, signal)) {
      const { type, object } = event;
      if (type === "ERROR") return;
      if (type === "DELETED") known.delete(asString(asObject(asObject(object)["metadata"])["name"]));
      else if (type !== "BOOKMARK") put(object);
      onChange([...known.values()]);
    }
  };

  return {
    follow(onChange, signal) {
      const run = async () => {
        let waitMs = AGAIN_MS;
        while (!signal.aborted) {
          try {
            const onListed = () => {
              waitMs = AGAIN_MS;
            };
            await followOnce(onChange, onListed, signal);
          } catch (error) {
            if (signal.aborted) return;
            log.warn({ err: error, waitMs }, "Listing AppProjects again");
            waitMs = Math.min(waitMs * 2, LONGEST_MS);
          }
          await sleep(waitMs, undefined, { signal }).catch(() => {});
        }
      };
      void run();
    },
    async annotate({ name, uid }, letIn, signal) {
      const body = JSON.stringify({ metadata: { uid, annotations: { [ANNOTATION_LET_IN]: letIn === "" ? null : letIn } } });
      const answer = await send(
        { method: "PATCH", path: `${path}/${encodeURIComponent(name)}`, body },
        AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
      );
      answer.resume();
    },
  };
}
