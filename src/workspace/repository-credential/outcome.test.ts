import { describe, expect, it } from "vitest";
import { isRevoking, nextObservationAfterMs, OBSERVE_AGAIN_MS, OUTCOMES, readEnd } from "./outcome.ts";

const URL = "https://git.example/not-found/Permission-denied";

describe("how a look ended", () => {
  it.each([
    ["fatal: could not read Username for 'https://git.example': terminal prompts disabled", "denied"],
    [`fatal: Authentication failed for '${URL}/'`, "denied"],
    [`fatal: unable to access '${URL}/': The requested URL returned error: 403`, "denied"],
    ["git@git.example: Permission denied (publickey).\nfatal: Could not read from remote repository.", "denied"],
    ["Received disconnect from 1.2.3.4 port 22:2: Too many authentication failures", "denied"],
    [`remote: Repository not found.\nfatal: repository '${URL}/' not found`, "not-found"],
    ["ERROR: Repository not found.\nfatal: Could not read from remote repository.", "not-found"],
    ["fatal: '/a.git' does not appear to be a git repository", "not-found"],
    [`fatal: unable to access '${URL}/': The requested URL returned error: 404`, "not-found"],
    [`fatal: unable to access '${URL}/': The requested URL returned error: 301`, "moved"],
    [`fatal: unable to access '${URL}/': Could not resolve host: git.example`, "unreachable"],
    [`fatal: unable to access '${URL}/': Failed to connect to git.example port 443 after 3 ms: Couldn't connect to server`, "unreachable"],
    ["ssh: connect to host 1.2.3.4 port 22: Connection timed out", "unreachable"],
    ["Connection closed by 1.2.3.4 port 22", "unreachable"],
    [`fatal: unable to access '${URL}/': The requested URL returned error: 502`, "unreachable"],
    [`fatal: unable to access '${URL}/': The requested URL returned error: 429`, "unreachable"],
    [`fatal: unable to access '${URL}/': server certificate verification failed. CAfile: none CRLfile: none`, "unknown-identity"],
    [`fatal: unable to access '${URL}/': SSL certificate problem: unable to get local issuer certificate`, "unknown-identity"],
    [
      "No ED25519 host key is known for git.example and you have requested strict checking.\nHost key verification failed.",
      "unknown-identity",
    ],
    [`fatal: unable to access '${URL}/': something new`, "failed"],
    ["remote: Permission denied\nfatal: something new", "failed"],
    ["", "failed"],
  ])("%j means %s", (stderr, outcome) => {
    expect(readEnd({ exitCode: 128, stderr, url: URL })).toBe(outcome);
  });

  it("is what git's exit says, whatever else it said", () => {
    expect(readEnd({ exitCode: 0, stderr: "warning: Permission denied", url: URL })).toBe("readable");
    expect(readEnd({ exitCode: undefined, stderr: "Permission denied", url: URL })).toBe("failed");
  });

  it("takes a credential out of use only where it is about the credential", () => {
    expect(OUTCOMES.filter(isRevoking)).toEqual(["denied", "not-found", "moved", "not-allowed"]);
  });

  it("is looked at again after ten minutes, and sooner where nothing was learnt", () => {
    expect(nextObservationAfterMs(0)).toBe(OBSERVE_AGAIN_MS);
    const waits = Array.from({ length: 12 }, (_, index) => nextObservationAfterMs(index + 1));
    expect(waits.slice(0, 3)).toEqual([15_000, 30_000, 60_000]);
    expect(waits.every((wait, index) => wait >= (waits[index - 1] ?? 0) && wait <= OBSERVE_AGAIN_MS)).toBe(true);
  });
});
