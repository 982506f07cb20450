import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { renderCrds } from "./crd.ts";
import * as say from "./messages.ts";

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-validations"?: readonly { readonly message: string }[];
}

const schemaOf = (crd: ReturnType<typeof renderCrds>[number]): Schema => {
  const [version] = crd.spec["versions"] as readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  if (version === undefined) throw new Error("no version");
  return version.schema.openAPIV3Schema;
};

function* nodesOf(schema: Schema, path = ""): Generator<readonly [string, Schema]> {
  yield [path, schema];
  for (const [name, child] of Object.entries(schema.properties ?? {})) yield* nodesOf(child, `${path}.${name}`);
  if (schema.items !== undefined) yield* nodesOf(schema.items, `${path}[]`);
}

describe("the resource definitions", () => {
  it("are what was reviewed", async () => {
    const text = renderCrds()
      .map((crd) => stringify(crd, { lineWidth: 0 }))
      .join("---\n");
    await expect(text).toMatchFileSnapshot("crds.golden.yaml");
  });

  it("are structural: every node has a type, every object says what it holds", () => {
    for (const [path, node] of renderCrds().flatMap((crd) => [...nodesOf(schemaOf(crd))])) {
      expect([path, node.type]).not.toEqual([path, undefined]);
      if (node.type === "object" && !["", ".metadata"].includes(path))
        expect([path, node.properties !== undefined || node["x-kubernetes-preserve-unknown-fields"]]).toEqual([path, true]);
    }
  });

  it("say what the webhooks said, to the letter", () => {
    const messages = renderCrds().flatMap((crd) =>
      [...nodesOf(schemaOf(crd))].flatMap(([, node]) => (node["x-kubernetes-validations"] ?? []).map(({ message }) => message)),
    );
    for (const message of [
      say.WRONG_TYPE,
      say.WRONG_SYNC_OPTION,
      say.NAMESPACE_WITHOUT_ENVIRONMENT,
      say.WRONG_API_URL,
      say.WRONG_REPOSITORY,
    ])
      expect(messages).toContain(message);
    expect(say.WRONG_TYPE).toBe("spec type must be manual or automated");
    expect(say.WRONG_SYNC_OPTION).toBe(
      "the specified sync option in .spec.syncPolicy.syncOptions is either mispelled or is not supported by GitOpsDeployment",
    );
    expect(say.NAMESPACE_WITHOUT_ENVIRONMENT).toBe("the environment field should not be empty when the namespace is non-empty");
    expect(say.WRONG_API_URL).toBe("cluster api url must start with https://");
    expect(say.WRONG_REPOSITORY).toBe("repository must begin with ssh:// or https://");
  });

  it("have the short names, the category and the columns people type and read", () => {
    const facts = renderCrds().map(({ spec }) => {
      const { shortNames, categories } = spec["names"] as {
        readonly shortNames: readonly string[];
        readonly categories: readonly string[];
      };
      const [version] = spec["versions"] as readonly {
        readonly additionalPrinterColumns: readonly { readonly name: string }[];
        readonly subresources: unknown;
      }[];
      expect(version?.subresources).toEqual({ status: {} });
      return [shortNames.join(), categories.join(), version?.additionalPrinterColumns.map(({ name }) => name).join()];
    });
    expect(facts).toEqual([
      ["gdme", "gitops", "API URL,Connected,Age"],
      ["gdrc", "gitops", "Repository,Valid,Age"],
      ["gd", "gitops", "Sync Status,Health Status,Ready,Age"],
      ["gdsr", "gitops", "Deployment,Phase,Age"],
    ]);
  });
});
