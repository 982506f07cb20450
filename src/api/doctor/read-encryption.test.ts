import { describe, expect, it } from "vitest";
import { RefusedError, UnavailableError } from "../../domain/errors.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { isGivenConfiguration, readEncryption } from "./read-encryption.ts";

const never = new AbortController().signal;
const FILE = "--encryption-provider-config=/etc/kubernetes/encryption.yaml";

describe("arguments of an API server", () => {
  it.each<readonly [boolean, readonly string[]]>([
    [true, ["kube-apiserver", FILE]],
    [true, ["kube-apiserver", "--encryption-provider-config", "/etc/kubernetes/encryption.yaml"]],
    [true, ["kube-apiserver", "--encryption-provider-config-automatic-reload=true", FILE]],
    [false, ["kube-apiserver", "--encryption-provider-config-automatic-reload=true"]],
    [false, ["kube-apiserver", "--encryption-provider-config="]],
    [false, ["kube-apiserver", "--encryption-provider-config", "--etcd-servers=https://127.0.0.1:2379"]],
    [false, ["kube-apiserver", "--encryption-provider-config"]],
    [false, []],
  ])("give an encryption configuration: %s, %j", (isGiven, args) => {
    expect(isGivenConfiguration(args)).toBe(isGiven);
  });
});

describe("reading whether a cluster encrypts what it keeps in etcd", () => {
  const reading = (answer: unknown) => {
    const client: Pick<KubeClient, "cluster" | "request"> = {
      cluster: "eu",
      request: async () => {
        if (answer instanceof Error) throw answer;
        return answer as never;
      },
    };
    return readEncryption(client as KubeClient, never);
  };
  const pod = (name: string, ...command: readonly string[]) => ({ metadata: { name }, spec: { containers: [{ command }] } });

  it("names the API servers without, also where a shell starts them", async () => {
    const items = [pod("a", "kube-apiserver", FILE), pod("b", "kube-apiserver"), pod("c", "sh", "-c", `exec kube-apiserver ${FILE} --v=2`)];
    expect(await reading({ items })).toEqual({ cluster: "eu", servers: 3, without: ["b"] });
  });

  it.each<readonly [unknown, string]>([
    [{ items: [] }, "its API servers are no pods of kube-system"],
    [{}, "its API servers are no pods of kube-system"],
    [new RefusedError("listing pods", { code: "kube.forbidden" }), "this account may not list pods of kube-system"],
    [new UnavailableError("listing pods", { code: "kube.unavailable" }), "it does not answer"],
  ])("says why nothing can be seen: %s", async (answer, unseen) => {
    expect(await reading(answer)).toEqual({ cluster: "eu", unseen });
  });

  it("takes nothing for granted that a server answers", async () => {
    expect(await reading({ items: [null, { spec: { containers: "x" } }, { metadata: 3 }] })).toMatchObject({ servers: 3 });
  });
});
