import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UnavailableError } from "../../../src/domain/errors.ts";
import { type BuildOptions, buildSet, cacheDirectory } from "../build.ts";
import { withFileLock } from "../file-lock.ts";
import { allSets } from "../go-sets.ts";
import { findGo, type GoToolchain, runGo } from "../go-toolchain.ts";
import { type OpenApi, renderApiSchemas } from "./api-schemas.ts";
import { API_VERSIONS, type ApiVersion } from "./api-versions.ts";

/** Paths of the programs that a chart is rendered and checked with. */
export interface ChartTools {
  readonly helm3: string;
  readonly helm4: string;
  readonly kubeconform: string;
  /** kubeconform's `-schema-location`: what Kubernetes of each of `API_VERSIONS` serves, strictly. */
  readonly schemaLocation: string;
}

/** Raised with each change of how schemas are rendered: what was made before is made again. */
const RECIPE = 1;
const UNUSED_AFTER_MS = 30 * 24 * 3_600_000;

/**
 * Builds the programs and schemas that a chart is checked with, or finds them in the cache. Nothing is fetched but Go modules. Throws
 * `InputError` when Go is missing or too old, `UnavailableError` when a build or a download fails.
 */
export async function provideChartTools(options: BuildOptions, signal: AbortSignal): Promise<ChartTools> {
  const schemas = await provideSchemas(options, signal);
  const program = async (set: string, name: string): Promise<string> => (await buildSet(set, options, signal)).program(name);
  return {
    helm3: await program(newestSet("helm-3."), "helm"),
    helm4: await program(newestSet("helm-4."), "helm"),
    kubeconform: await program("kubeconform", "kubeconform"),
    schemaLocation: join(schemas, "{{ .NormalizedKubernetesVersion }}", "{{ .ResourceKind }}{{ .KindSuffix }}.json"),
  };
}

/** Argo CD's releases say which versions of Helm there are. */
function newestSet(prefix: string): string {
  const sets = allSets().filter((name) => name.startsWith(prefix));
  return sets.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1) ?? prefix;
}

/** A folder with one folder of schemas for each version, complete. Two that ask at the same time take turns. */
async function provideSchemas({ cache = cacheDirectory(), progress }: BuildOptions, signal: AbortSignal): Promise<string> {
  const parent = join(cache, "kubernetes-schemas");
  const key = createHash("sha256")
    .update(JSON.stringify([RECIPE, API_VERSIONS]))
    .digest("hex")
    .slice(0, 16);
  const directory = join(parent, key);
  await withFileLock(
    `${directory}.lock`,
    async () => {
      if (existsSync(directory)) return;
      const go = await findGo();
      const startedAt = Date.now();
      const say = (done: boolean) =>
        progress?.({ set: "chart-tools", step: "schemas", seconds: Math.round((Date.now() - startedAt) / 1000), done });
      say(false);
      const draft = await mkdtemp(`${directory}.draft-`);
      try {
        for (const version of API_VERSIONS) await writeSchemas(join(draft, `v${version.release}`), { go, version, parent }, signal);
        await rename(draft, directory);
      } finally {
        await rm(draft, { recursive: true, force: true });
      }
      await removeUnused(parent);
      say(true);
    },
    signal,
  );
  await utimes(directory, new Date(), new Date());
  return directory;
}

interface Source {
  readonly go: GoToolchain;
  readonly version: ApiVersion;
  /** A folder without a module file, so that Go reads and changes none. */
  readonly parent: string;
}

async function writeSchemas(folder: string, { go, version, parent }: Source, signal: AbortSignal): Promise<void> {
  const module = `k8s.io/kubernetes@v${version.release}`;
  const said = await runGo(go, { directory: parent, args: ["mod", "download", "-json", module] }, signal);
  const { Dir, Sum } = JSON.parse(said) as { readonly Dir: string; readonly Sum: string };
  if (Sum !== version.sum)
    throw new UnavailableError(`Comparing ${module} with what is known of it: it has the sum ${Sum}, not ${version.sum}`, {
      code: "dev.module-sum",
      context: { module },
    });
  const openApi = JSON.parse(await readFile(join(Dir, "api", "openapi-spec", "swagger.json"), "utf8")) as OpenApi;
  await mkdir(folder);
  for (const [file, schema] of renderApiSchemas(openApi)) await writeFile(join(folder, file), JSON.stringify(schema));
}

/** Deletes schemas that nobody has used for a month. Each use renews them, so other checkouts keep theirs. */
async function removeUnused(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const path = join(parent, name);
    const used = await stat(path).catch(() => undefined);
    if (used !== undefined && Date.now() - used.mtimeMs > UNUSED_AFTER_MS) await rm(path, { recursive: true, force: true });
  }
}
