import { describe, expect, it } from "vitest";
import { ACTIVE_CANARIES, PASSIVE_CANARY, renderCanaries } from "./canaries.ts";

const REPOSITORY = { repository: "https://git.example/canary.git", revision: "main", path: "canary" };

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly sourceRepos?: readonly string[];
    readonly source?: unknown;
    readonly sources?: readonly {
      readonly repoURL: string;
      readonly targetRevision: string;
      readonly ref: string;
      readonly path?: string;
    }[];
    readonly syncPolicy?: unknown;
  };
}

const rendered = (source: Parameters<typeof renderCanaries>[2]) =>
  renderCanaries("argosy-standard-1", "https://api.example", source) as unknown as readonly Rendered[];

describe("the canaries of an instance", () => {
  it("compare sources that a repo-server answers without Git: full commit ids, nothing to render, and always more than one source", () => {
    const [project, ...applications] = rendered("no-repository");
    expect(applications.map(({ metadata }) => metadata.name)).toEqual([...ACTIVE_CANARIES, PASSIVE_CANARY]);
    for (const { spec } of applications) {
      const { source, sources = [] } = spec;
      expect(source).toBeUndefined();
      expect(sources.length).toBeGreaterThan(1);
      expect(new Set(sources.map(({ ref }) => ref)).size).toBe(sources.length);
      for (const { targetRevision, path, repoURL } of sources) {
        expect(targetRevision).toMatch(/^[0-9a-f]{40}$/);
        expect(path).toBeUndefined();
        expect(new URL(repoURL).hostname).toMatch(/\.invalid$/);
        expect(project?.spec.sourceRepos).toEqual([repoURL]);
      }
    }
  });

  it("compare the content of a repository where one is declared", () => {
    const [project, ...applications] = rendered(REPOSITORY);
    expect(project?.spec.sourceRepos).toEqual([REPOSITORY.repository]);
    for (const { spec } of applications) {
      expect(spec.source).toEqual({ repoURL: REPOSITORY.repository, targetRevision: "main", path: "canary" });
      expect(spec.sources).toBeUndefined();
    }
  });

  it("are never synced", () => {
    for (const source of ["no-repository", REPOSITORY] as const)
      for (const { spec } of rendered(source)) expect(spec.syncPolicy).toBeUndefined();
  });
});
