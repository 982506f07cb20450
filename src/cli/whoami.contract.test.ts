import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tokenHash } from "../api/auth.ts";
import { type Served, serveApi } from "../api/testing/served.ts";
import { aToken } from "../store/testing/builders.ts";
import { runCommand } from "./testing/run-command.ts";

const TOKEN = "argosy_of_a_team_0123456789";
let served: Served;
const directory = mkdtempSync(join(tmpdir(), "argosy-whoami-"));
beforeAll(async () => {
  served = await serveApi();
  const limited = { name: "terra", role: "operator", scope: { workspaces: ["team-*"] } } as const;
  await served.store.tokens.put(aToken({ ...limited, hash: tokenHash(TOKEN) }), undefined, AbortSignal.timeout(60_000));
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await served.close();
});

it("says who one is, by which way, with which role and where", async () => {
  const file = join(directory, "token");
  writeFileSync(file, `${TOKEN}\n`);
  const env = { ARGOSY_URL: served.url, ARGOSY_TOKEN_FILE: file };
  const { out } = await runCommand(["whoami"], env);
  expect(out.replaceAll(/ +/g, " ")).toBe("terra, by a token of Argosy's own\n\nROLE CLASSES WORKSPACES\noperator any team-*");
  const { out: json } = await runCommand(["whoami", "-o", "json"], env);
  expect(JSON.parse(json)).toEqual({
    ...{ actor: "terra", way: "token", role: "operator", until: null },
    grants: [{ role: "operator", classes: null, workspaces: ["team-*"] }],
  });
});

it("keeps a token of the table within what its row says", async () => {
  const env = { ARGOSY_URL: served.url, ARGOSY_TOKEN: TOKEN };
  const seen = await runCommand(["doctor"], env);
  expect(seen.code).not.toBe(0);
  expect(seen.err).toContain("workspaces team-*");
});
