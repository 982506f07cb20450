import { expect, it } from "vitest";
import { imageOf } from "./argosy-image.ts";

const NO_COMMIT = "0123456789abcdef0123456789abcdef01234567";

// That an image of this checkout and of an earlier commit runs is what the other stories show.
it("says in a sentence that a clone does not have a commit", async () => {
  expect(await imageOf(NO_COMMIT, new AbortController().signal)).toEqual({
    skip: `this clone does not have the commit ${NO_COMMIT}: git fetch --unshallow --tags may bring it`,
  });
});
