import { StaleError } from "../domain/errors.ts";

/** How often a change of the declaration is made anew because somebody else has declared one meanwhile. */
const ATTEMPTS = 10;

/**
 * Runs what reads the declaration and writes one that was made from it, and runs it again when another one was declared in between. Nothing
 * that somebody declared meanwhile is taken back by it, and nothing that needs a second person comes in with it.
 */
export async function againWhenStale<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof StaleError) || attempt === ATTEMPTS) throw error;
    }
  }
}
