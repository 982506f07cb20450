import { describe, expect, it } from "vitest";
import * as say from "../api/messages.ts";
import { describeProblems } from "../problem.ts";
import { aResource, aSpec, REPOSITORY } from "../testing/builders.ts";
import { parseDeployment } from "./parse-deployment.ts";

const CLOSED = { allow: [], http: [] };
const parse = (spec: unknown, refreshedAt = "") => parseDeployment(aResource({ spec, refreshedAt }), CLOSED);
const complaintsOf = (spec: unknown, isKnown = false): string => {
  const parsed = parse(spec);
  return parsed.ok ? "" : describeProblems(parsed.problems, isKnown);
};
const withSource = (source: Readonly<Record<string, unknown>>) => aSpec({ source: { repoURL: REPOSITORY, path: "a", ...source } });

describe("reading a GitOpsDeployment", () => {
  it("reads everything it asks for", () => {
    expect(parse(aSpec({ destination: {}, syncPolicy: { syncOptions: ["CreateNamespace=true"] }, type: "manual" }))).toEqual({
      ok: true,
      spec: {
        source: { repoUrl: REPOSITORY, path: "overlays/dev", targetRevision: "main" },
        destination: {},
        type: "manual",
        createNamespace: true,
      },
    });
  });

  it("reads the least there can be: no revision is HEAD, no option is none", () => {
    expect(parse({ source: { repoURL: REPOSITORY, path: "." }, type: "automated" })).toEqual({
      ok: true,
      spec: { source: { repoUrl: REPOSITORY, path: ".", targetRevision: "" }, destination: {}, type: "automated", createNamespace: false },
    });
    expect(parse(aSpec({ syncPolicy: { syncOptions: ["CreateNamespace=false"] } }))).toMatchObject({ spec: { createNamespace: false } });
    expect(parse(aSpec({ destination: { environment: "", namespace: "" } }))).toMatchObject({ ok: true });
  });

  it("drops space around values, as block scalars in YAML leave it", () => {
    expect(parse(withSource({ repoURL: `${REPOSITORY}\n`, path: " a ", targetRevision: "main\n" }))).toMatchObject({
      spec: { source: { repoUrl: REPOSITORY, path: "a", targetRevision: "main" } },
    });
  });

  it("passes on a poke, and none where there is none", () => {
    const pokes = ["", "0123456789abcdef"].map((at) => parse(aSpec(), at)).map((parsed) => (parsed.ok ? parsed.spec.refresh : "refused"));
    expect(pokes).toEqual([undefined, "0123456789abcdef"]);
  });

  it.each([
    ["an empty path", withSource({ path: "" }), say.EMPTY_PATH],
    ["a path of the root", withSource({ path: "/" }), say.ROOT_PATH],
    ["a type that is none", aSpec({ type: "Automated" }), say.WRONG_TYPE],
    ["an option that is none", aSpec({ syncPolicy: { syncOptions: ["Prune=true"] } }), say.WRONG_SYNC_OPTION],
    ["a namespace without environment", aSpec({ destination: { namespace: "prod" } }), say.NAMESPACE_WITHOUT_ENVIRONMENT],
    ["an environment without namespace", aSpec({ destination: { environment: "eu" } }), say.ENVIRONMENT_WITHOUT_NAMESPACE],
  ])("says of %s exactly what users know", (_what, spec, message) => {
    expect(complaintsOf(spec)).toBe(message);
  });

  it("says of a namespace that is missing in the words for what was deployed before", () => {
    expect(complaintsOf(aSpec({ destination: { environment: "eu" } }), true)).toBe(say.ENVIRONMENT_WITHOUT_NAMESPACE_ON_UPDATE);
  });

  it.each([{ namespace: "argocd" }, { namespace: "kube-system", environment: "" }])(
    "S3: refuses a namespace without an environment, whether or not it was refused at admission: %j",
    (destination) => {
      expect(parse(aSpec({ destination }))).toMatchObject({ ok: false });
    },
  );

  it.each(["prod\u001b[2J", "prod\nJan  1 00:00:00 all is well", "prod\u0000", "prod\u009b2J", "prod\u2028"])(
    "refuses an environment whose name has control characters, and repeats it to nobody: %j",
    (environment) => {
      const parsed = parse(aSpec({ destination: { environment, namespace: "prod" } }));
      expect(parsed).toEqual({
        ok: false,
        problems: [{ path: "spec.destination.environment", message: "spec.destination.environment must not contain control characters" }],
      });
    },
  );

  it("takes an environment's name as it is, whether or not there is one", () => {
    const destination = { environment: "eu", namespace: "prod" };
    expect(parse(aSpec({ destination }))).toMatchObject({ ok: true, spec: { destination } });
    expect(parse(aSpec({ destination: { environment: "", namespace: "" } }))).toMatchObject({ ok: true, spec: { destination: {} } });
  });

  it.each([
    [withSource({ path: "../other" }), "spec.source.path must stay inside the repository"],
    [withSource({ path: "a/../../other/a" }), "spec.source.path must stay inside the repository"],
    [withSource({ path: "a\u0007b" }), "spec.source.path must not contain control characters"],
    [withSource({ targetRevision: "a\u0000b" }), "spec.source.targetRevision must not contain control characters"],
    [withSource({ targetRevision: "--upload-pack=id" }), "spec.source.targetRevision must not begin with '-'"],
    [withSource({ repoURL: "file:///x" }), "spec.source.repoURL must begin with"],
    [aSpec({ destination: { environment: "eu", namespace: "Not_One" } }), "spec.destination.namespace must be the name of a namespace"],
    [withSource({ path: "a".repeat(5000) }), "spec.source.path"],
    [undefined, "spec"],
    ["text", "spec"],
    [{}, "spec.source"],
    [aSpec({ source: "x" }), "spec.source"],
    [aSpec({ type: 7 }), "spec.type"],
    [aSpec({ syncPolicy: { syncOptions: "CreateNamespace=true" } }), "spec.syncPolicy.syncOptions"],
  ])("refuses %j", (spec, complaint) => {
    expect(complaintsOf(spec)).toContain(complaint);
  });

  it("takes a path that goes up and down inside the repository, and fields it does not know", () => {
    expect(complaintsOf(withSource({ path: "a/b/../c/./d" }))).toBe("");
    expect(complaintsOf({ ...aSpec(), futureField: 1 })).toBe("");
  });

  it("says everything that is wrong at once", () => {
    const complaints = complaintsOf({
      source: { repoURL: "git://x", path: "", targetRevision: "-x" },
      type: "manual",
      destination: { environment: "e" },
    });
    for (const part of ["repoURL", say.EMPTY_PATH, "targetRevision", say.ENVIRONMENT_WITHOUT_NAMESPACE]) expect(complaints).toContain(part);
  });
});
