import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { InputError } from "../../../src/domain/errors.ts";
import type { ApiServerAnswer } from "../../../src/runtime/kube/testing/real-api-server.ts";
import { type BuildProgress, buildSet } from "../build.ts";
import { type KubernetesCluster, startKubernetes } from "../kubernetes.ts";

/**
 * Provides an API server for the contract tests that compare the fake with a real one. It is started for the first
 * file that needs it, so that a run without such files costs nothing, and ended after the last one. There are only
 * etcd and the API server, because no test waits for a controller.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), "argosy-contract-"));
  const abort = new AbortController();
  let starting: Promise<KubernetesCluster> | undefined;
  const answer = async (): Promise<ApiServerAnswer> => {
    try {
      starting ??= start(directory, abort.signal);
      return { kubeconfig: (await starting).kubeconfig };
    } catch (error) {
      return error instanceof InputError ? { skip: `${error.message}: ${error.remedy}` } : { error: String(error) };
    }
  };
  const server = createServer((_request, response) => void answer().then((said) => response.end(JSON.stringify(said))));
  // A build takes minutes, and the test waits for it.
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  project.provide("apiServerAt", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    abort.abort();
    server.closeAllConnections();
    server.close();
    await (await starting?.catch(() => undefined))?.stop();
    rmSync(directory, { recursive: true, force: true });
  };
}

async function start(directory: string, signal: AbortSignal): Promise<KubernetesCluster> {
  const programs = await buildSet("kubernetes", { progress: reportBuild }, signal).catch((error: unknown) => {
    if (error instanceof InputError)
      process.stdout.write(`contract: tests on a real API server are skipped: ${error.message}: ${error.remedy}\n`);
    throw error;
  });
  return await startKubernetes({ name: "contract", directory, programs, components: ["etcd", "kube-apiserver"], endsWithUs: true }, signal);
}

const reportBuild: BuildProgress = ({ set, step, seconds, done }) => {
  if (done && seconds > 0) process.stdout.write(`contract: built ${step} of ${set} ${seconds} s\n`);
};
