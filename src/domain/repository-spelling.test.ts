import { describe, expect, it } from "vitest";
import { checkoutGroup, placeOf, spellingOf } from "./repository-spelling.ts";

/** Argo CD's `NormalizeGitURL` (util/git/git.go of 3.5), as far as it can be given without Go: what it lowers, trims, and encodes anew. */
function argoKey(raw: string): string {
  let url = raw.trim().toLowerCase();
  if (/^(ssh:\/\/)?([^/:]*?)@[^@]+$/.test(url) && !url.startsWith("ssh://")) url = `ssh://${url.replace(":", "/")}`;
  const trimmed = url.replace(/\.git$/, "").replace(/#$/, "");
  return trimmed.replace(/[^\0-\x7f]+/g, (text) => encodeURIComponent(text).toLowerCase()).replace(/^ssh:\/\//, "");
}

const PLACES = [
  ...["https://git.example/team/victim", "https://git.example/team/Victim", "https://git.example/team/victim.git"],
  ...["https://git.example/team/victim.GIT", "https://git.example/team/%56ictim", "https://git.example/team/%76ictim.git"],
  ...["https://git.example/team/victim#", "https://git.example/team/victim#x", "https://git.example/team/victim.git#"],
  ...["https://git.example:8443/team/victim", "https://git.example:8443/team/Victim"],
  ...["http://git.example/team/victim", "http://git.example/team/VICTIM"],
  ...[
    "ssh://git@git.example/team/victim",
    "git@git.example:team/victim",
    "git@git.example:team/Victim.git",
    "git@git.example:/team/victim",
  ],
  ...["ssh://git@git.example:2222/team/victim", "ssh://git@git.example:2222/team/victim.git", "ssh://Git@git.example/team/victim"],
  ...["https://[2001:db8::1]/a", "https://[2001:db8::1]:8443/A", "https://git.example/team/ä", "https://git.example/team/%C3%A4"],
];
/** All of the places, each with a number of its own within its group, in this order. */
function numbered(places: readonly string[]): readonly { readonly url: string; readonly given: string }[] {
  const groups = new Map<string, string[]>();
  return places.map((url) => {
    const group = groups.get(checkoutGroup(url)) ?? [];
    groups.set(checkoutGroup(url), group);
    if (!group.includes(placeOf(url))) group.push(placeOf(url));
    return { url, given: spellingOf(url, group.indexOf(placeOf(url))) };
  });
}

describe("the spelling an instance is given", () => {
  it.each([["as they come", PLACES] as const, ["the other way round", PLACES.toReversed()] as const])(
    "has a key of its own for every place, %s",
    (_, places) => {
      const given = numbered(places);
      const keys = new Map<string, string>();
      for (const one of given) {
        const other = keys.get(argoKey(one.given));
        expect(other === undefined || placeOf(other) === placeOf(one.url), `${one.url} and ${other}`).toBe(true);
        keys.set(argoKey(one.given), one.url);
      }
      expect(new Set(given.map(({ url }) => argoKey(url))).size).toBeLessThan(keys.size);
    },
  );

  it("leads to the same address: only a port is written, as who connects reads it anyway", () => {
    for (const { url, given } of numbered([
      ...PLACES,
      ...PLACES.map((place) => place.toUpperCase().replace(/^[A-Z]+:/, (s) => s.toLowerCase())),
    ])) {
      if (!/^[a-z]+:\/\//.test(url)) continue;
      expect(placeOf(given)).toBe(placeOf(url));
      expect(new URL(given.replace(/^ssh:/, "https:").replace(/:0*22(?=\/)/, "")).href).toBe(new URL(url.replace(/^ssh:/, "https:")).href);
    }
  });

  it("is the user's own for the first, whatever stands in it", () => {
    for (const url of PLACES) expect(spellingOf(url, 0)).toBe(url);
    expect(spellingOf("https://git.example:443/a", 0)).toBe("https://git.example/a");
    expect(spellingOf("https://git.example:08443/a", 0)).toBe("https://git.example:8443/a");
  });

  it.each([
    ["https://git.example/a", ["https://git.example:443/a", "https://git.example:0443/a", "https://git.example:00443/a"]],
    ["https://Git.example:8443/A", ["https://git.example:08443/A", "https://git.example:008443/A"]],
    ["http://[2001:db8::1]/a", ["http://[2001:db8::1]:80/a", "http://[2001:db8::1]:080/a"]],
    ["ssh://git@git.example/a", ["ssh://git@git.example:22/a", "ssh://git@git.example:022/a"]],
    ["git@git.example:team/a.git", ["ssh://git@git.example:22/team/a.git", "ssh://git@git.example:022/team/a.git"]],
    ["git@git.example:/srv/a", ["ssh://git@git.example:22//srv/a"]],
  ])("of further ones of %s is written with a port and zeros", (url, expected) => {
    expect(expected.map((_, index) => spellingOf(url, index + 1))).toEqual(expected);
  });

  it("says of two spellings of one place that they are one", () => {
    for (const same of ["HTTPS://GIT.example/a", "https://git.example:443/a", "https://git.example:00443/a"])
      expect(placeOf(same)).toBe("https://git.example/a");
    expect(placeOf("ssh://git@git.example:022/a")).toBe("ssh://git@git.example/a");
  });
});
