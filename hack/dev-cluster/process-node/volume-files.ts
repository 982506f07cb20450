import { type PodFacts, podField, type References } from "./environment.ts";
import type { DownwardItem, FilesOf, Volume } from "./pod.ts";

/** A token that the file at `path` has to hold. It is requested from the API server. */
export interface TokenFile {
  readonly path: string;
  readonly audience: string | undefined;
  readonly expirationSeconds: number;
}

export type VolumeFiles =
  | { readonly ok: true; readonly files: Readonly<Record<string, string>>; readonly tokens: readonly TokenFile[] }
  | { readonly ok: false; readonly missing: string };

/** The files of one volume: path below the volume → content. Volumes of other kinds (emptyDir, claims) have none. */
export function filesOf(volume: Volume, facts: PodFacts, references: References): VolumeFiles {
  const files: Record<string, string> = {};
  const tokens: TokenFile[] = [];
  for (const source of sourcesOf(volume)) {
    if (source.token !== undefined) tokens.push(source.token);
    const picked = source.kind === "downward" ? downward(source.items, facts) : pick(source, references);
    if (typeof picked === "string") return { ok: false, missing: picked };
    Object.assign(files, picked);
  }
  return { ok: true, files, tokens };
}

/** Names of the config maps and secrets that the volumes mention. */
export function referredBy(volumes: readonly Volume[]): { readonly configMaps: readonly string[]; readonly secrets: readonly string[] } {
  const sources = volumes.flatMap(sourcesOf);
  const names = (kind: string) => sources.flatMap((source) => (source.kind === kind && "name" in source ? [source.name] : []));
  return { configMaps: names("configmap"), secrets: names("secret") };
}

type Source =
  | { readonly kind: "configmap" | "secret"; readonly name: string; readonly from: FilesOf; readonly token?: undefined }
  | { readonly kind: "downward"; readonly items: readonly DownwardItem[]; readonly token?: TokenFile };

function sourcesOf(volume: Volume): readonly Source[] {
  if (volume.configMap) return [{ kind: "configmap", name: volume.configMap.name, from: volume.configMap }];
  if (volume.secret) return [{ kind: "secret", name: volume.secret.secretName, from: volume.secret }];
  if (volume.downwardAPI) return [{ kind: "downward", items: volume.downwardAPI.items ?? [] }];
  return (volume.projected?.sources ?? []).flatMap((source): readonly Source[] => {
    if (source.configMap) return [{ kind: "configmap", name: source.configMap.name, from: source.configMap }];
    if (source.secret) return [{ kind: "secret", name: source.secret.name, from: source.secret }];
    if (source.downwardAPI) return [{ kind: "downward", items: source.downwardAPI.items ?? [] }];
    const token = source.serviceAccountToken;
    if (token === undefined) return [];
    return [
      {
        kind: "downward",
        items: [],
        token: { path: token.path, audience: token.audience, expirationSeconds: token.expirationSeconds ?? 3600 },
      },
    ];
  });
}

/** The picked files, or a sentence naming what is missing. */
function pick(
  source: Source & { readonly kind: "configmap" | "secret" },
  references: References,
): Readonly<Record<string, string>> | string {
  const data = source.kind === "configmap" ? references.configMap(source.name) : references.secret(source.name);
  if (data === undefined) return source.from.optional === true ? {} : `${source.kind} "${source.name}" not found`;
  if (source.from.items === undefined) return data;
  const files: Record<string, string> = {};
  for (const item of source.from.items) {
    const content = data[item.key];
    if (content !== undefined) files[item.path] = content;
    else if (source.from.optional !== true) return `references non-existent config key: ${item.key}`;
  }
  return files;
}

function downward(items: readonly DownwardItem[], facts: PodFacts): Readonly<Record<string, string>> {
  return Object.fromEntries(items.map((item) => [item.path, podField(item.fieldRef?.fieldPath ?? "", facts) ?? ""]));
}
