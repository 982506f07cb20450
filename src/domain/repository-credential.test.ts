import { describe, expect, it } from "vitest";
import {
  chosenCredentials,
  type RepositorySecret,
  readRepositorySecret,
  repositoryKey,
  writeRepositorySecret,
} from "./repository-credential.ts";

describe("the secret of a repository", () => {
  it.each<RepositorySecret>([
    { kind: "basic", username: "u", password: "p" },
    { kind: "bearer", token: "t" },
    { kind: "ssh", privateKey: "k" },
  ])("is read as it was written: $kind", (secret) => {
    expect(readRepositorySecret(writeRepositorySecret(secret))).toEqual(secret);
  });

  it.each(["", "null", "1", '{"kind":"basic","username":"u"}', '{"kind":"other"}'])("is not read from %j", (text) => {
    expect(readRepositorySecret(text)).toBe(undefined);
  });
});

describe("the credentials of a workspace", () => {
  it.each([
    ["https://Git.example/X.git", "https://git.example/x"],
    ["git@git.example:x", "ssh://git@git.example/x.git"],
  ])("%s and %s are one repository", (a, b) => {
    expect(repositoryKey(a)).toBe(repositoryKey(b));
  });

  it("serve each repository with the oldest, then the smallest uid", () => {
    const one = (urlKey: string, createdAt: string, uid: string) => ({ urlKey, createdAt, uid });
    const chosen = chosenCredentials([one("b", "2", "1"), one("a", "2", "2"), one("a", "1", "3"), one("b", "2", "0")]);
    expect(chosen).toEqual([one("a", "1", "3"), one("b", "2", "0")]);
  });
});
