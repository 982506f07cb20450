import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { InputError } from "../../src/domain/errors.ts";

/** Programs built together from one Go module file. */
export interface GoSet {
  readonly name: string;
  /** Folder that holds the module file. */
  readonly directory: string;
  readonly programs: readonly GoProgram[];
  /** Files of the module `module` that belong to the programs. */
  readonly extras: GoExtras | undefined;
}

export interface GoProgram {
  /** File name of the binary. */
  readonly name: string;
  readonly package: string;
  /** Values of Go variables that are set at link time. Without a version kubectl refuses to talk to the server. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface GoExtras {
  readonly module: string;
  /** Folders copied as they are: from the module, into the set. */
  readonly folders: readonly { readonly from: string; readonly to: string }[];
  /** Scripts copied beside the binaries, executable. */
  readonly scripts: readonly string[];
}

const goDirectory = join(fileURLToPath(new URL(".", import.meta.url)), "go");
const argoCdPrefix = "argo-cd-";

/**
 * Programs that Argo CD's image has besides Argo CD, by the first release that has them, newest first. The versions
 * come from the release's own list (`hack/tool-versions.sh` of its module). Each program is a set of its own, because
 * one module file would mix their dependencies.
 */
const renderers: readonly { readonly from: string; readonly sets: readonly string[] }[] = [
  { from: "3.5.0", sets: ["kustomize-5.8.1", "helm-4.2.1"] },
  { from: "3.3.0", sets: ["kustomize-5.8.1", "helm-3.19.4"] },
];

/** Versions of Argo CD with a module file here, e.g. `3.5.7`. To add a version, add its folder. */
export function argoCdVersions(): readonly string[] {
  return readdirSync(goDirectory)
    .filter((name) => name.startsWith(argoCdPrefix))
    .map((name) => name.slice(argoCdPrefix.length))
    .sort();
}

/** The sets with Kustomize and Helm that an Argo CD version runs, for the version as an image tag writes it. */
export function rendererSets(version: string): readonly string[] {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  return renderers.find(({ from }) => isAtLeast([major, minor], from))?.sets ?? [];
}

/** Every set there is. */
export function allSets(): readonly string[] {
  const versions = argoCdVersions();
  const fixed = ["kubernetes", "kubernetes-node", "coredns", "kubeconform", "tools"];
  return [...fixed, ...versions.map(argoCdSetName), ...new Set(versions.flatMap(rendererSets))];
}

/**
 * The set called `kubernetes`, `kubernetes-node`, `coredns`, `kubeconform`, `tools`, `kustomize-<version>`, `helm-<version>` or
 * `argo-cd-<version>`; InputError for any other name.
 */
export function goSet(name: string): GoSet {
  const directory = join(goDirectory, name);
  if (name === "kubernetes") return kubernetesSet(directory);
  if (name === "kubernetes-node") return kubernetesNodeSet(directory);
  if (name === "coredns") return { name, directory, programs: [program("coredns", ".")], extras: undefined };
  if (name === "kubeconform") return kubeconformSet(directory);
  if (name === "tools")
    return { name, directory, programs: ["redis", "git-ssh", "pause"].map((tool) => program(tool, `./${tool}`)), extras: undefined };
  if (renderers.some(({ sets }) => sets.includes(name))) return rendererSet(name, directory);
  const version = name.startsWith(argoCdPrefix) ? name.slice(argoCdPrefix.length) : undefined;
  if (version !== undefined && argoCdVersions().includes(version)) return argoCdSet(name, directory, version);
  throw new InputError(`Looking up the Go programs of "${name}"`, {
    code: "dev.unknown-set",
    path: "set",
    remedy: `name one of ${allSets().join(", ")}`,
  });
}

/** Where the programs of an Argo CD version are declared. The version is written as in an image tag (`v3.5.7`). */
export function argoCdSetName(version: string): string {
  return argoCdPrefix + version.replace(/^v/, "");
}

function kubernetesSet(directory: string): GoSet {
  const programs = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"];
  return {
    name: "kubernetes",
    directory,
    programs: [program("etcd", "go.etcd.io/etcd/server/v3"), ...kubernetesPrograms(directory, programs)],
    extras: undefined,
  };
}

/** What a real node runs. It is a set of its own, because most runs do without. */
function kubernetesNodeSet(directory: string): GoSet {
  return { name: "kubernetes-node", directory, programs: kubernetesPrograms(directory, ["kubelet", "kube-proxy"]), extras: undefined };
}

function kubernetesPrograms(directory: string, names: readonly string[]): readonly GoProgram[] {
  const version = requiredVersion(directory, "k8s.io/kubernetes");
  const [major = "", minor = ""] = version.slice(1).split(".");
  const variables = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((at) => [
    [`${at}.gitVersion`, version],
    [`${at}.gitMajor`, major],
    [`${at}.gitMinor`, minor],
    [`${at}.gitTreeState`, "clean"],
  ]);
  const versions = Object.fromEntries(variables) as Record<string, string>;
  return names.map((name) => program(name, `k8s.io/kubernetes/cmd/${name}`, versions));
}

/** What holds a chart's manifests against the schemas of Kubernetes. */
function kubeconformSet(directory: string): GoSet {
  const module = "github.com/yannh/kubeconform";
  const version = { "main.version": requiredVersion(directory, module) };
  return { name: "kubeconform", directory, programs: [program("kubeconform", `${module}/cmd/kubeconform`, version)], extras: undefined };
}

function rendererSet(name: string, directory: string): GoSet {
  const [tool = "", version = ""] = name.split("-");
  const major = version.split(".")[0] ?? "";
  const programs =
    tool === "kustomize"
      ? [program(tool, `sigs.k8s.io/kustomize/kustomize/v${major}`, { "sigs.k8s.io/kustomize/api/provenance.version": `v${version}` })]
      : [program(tool, `helm.sh/helm/v${major}/cmd/helm`, { [`helm.sh/helm/v${major}/internal/version.version`]: `v${version}` })];
  return { name, directory, programs, extras: undefined };
}

function isAtLeast([major, minor]: readonly [number, number], release: string): boolean {
  const [otherMajor = 0, otherMinor = 0] = release.split(".").map(Number);
  return major > otherMajor || (major === otherMajor && minor >= otherMinor);
}

function argoCdSet(name: string, directory: string, version: string): GoSet {
  const module = `github.com/argoproj/argo-cd/v${version.split(".")[0] ?? ""}`;
  const folders = [
    { from: "manifests/crds", to: "crds" },
    { from: "manifests/base", to: "base" },
  ];
  const programs = [program("argocd", `${module}/cmd`, { [`${module}/common.version`]: version })];
  return { name, directory, programs, extras: { module, folders, scripts: ["hack/git-verify-wrapper.sh", "hack/gpg-wrapper.sh"] } };
}

function program(name: string, from: string, variables: Readonly<Record<string, string>> = {}): GoProgram {
  return { name, package: from, variables };
}

/** Version of `module` that the module file in `directory` requires. */
function requiredVersion(directory: string, module: string): string {
  const line = readFileSync(join(directory, "go.mod"), "utf8")
    .split("\n")
    .map((text) =>
      text
        .trim()
        .replace(/^require /, "")
        .split(" "),
    )
    .find(([name, version]) => name === module && version?.startsWith("v"));
  if (line?.[1] !== undefined) return line[1];
  throw new InputError(`Reading the version of ${module}`, {
    code: "dev.go-mod",
    path: join(directory, "go.mod"),
    remedy: `require ${module} there`,
  });
}
